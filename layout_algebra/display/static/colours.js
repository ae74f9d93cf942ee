// Colours of cells and marks: light fills that dark text is read on (contrast above 7 to 1), and
// marks that differ in width and dash as well as in colour.

/** The fill of a tint; -1 is an empty cell. */
export function tintColour(tint) {
  if (tint < 0) return "#ffffff";
  TINT[tint] ??= hslHex((tint * 137) % 360, 0.72, tint % 2 ? 0.8 : 0.88);
  return TINT[tint];
}

const TINT = [];

function hslHex(hue, saturation, lightness) {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const part = (n) => {
    const k = (n + hue / 30) % 12;
    const value = lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

const STYLES = {
  selected: {colour: "#000000", width: 3, dash: []},
  copy: {colour: "#000000", width: 2, dash: [4, 2]},
  shares: {colour: "#b00020", width: 2, dash: [2, 2]},
  witness: {colour: "#b00020", width: 3, dash: []},
  differs: {colour: "#b00020", width: 2, dash: []},
  access: {colour: "#0b4fa8", width: 2, dash: [5, 3]},
  served: {colour: "#0b4fa8", width: 3, dash: []},
  active: {colour: "#555555", width: 1, dash: [1, 2]},
};

/** How a mark is drawn: {colour, width, dash}. */
export function cellStyle(mark) {
  return STYLES[mark] ?? STYLES.active;
}
