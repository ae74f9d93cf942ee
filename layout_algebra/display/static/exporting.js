// What leaves the page: SVG of a grid, JSON, the queries of the proofs as SMT-LIB, Python text.
import {cellStyle, tintColour} from "./colours.js";
import {layoutText} from "./layouts.js";

/** Rows and columns of the largest SVG. */
const MOST_ROWS = 256;
const MOST_COLUMNS = 256;

function escaped(text) {
  return `${text}`.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** A view with its marks as one SVG text; larger ones from `window`'s first row and column on. */
export function svgOf(view, marks, width = 46, window = [0, 0]) {
  const height = 22;
  const [top, left] = window;
  const rows = Math.min(view.rows - top, MOST_ROWS);
  const cols = Math.min(view.cols - left, MOST_COLUMNS);
  const side = 60;
  const parts = [];
  for (let r = 0; r < rows; r += 1) {
    parts.push(textAt(side / 2, 20 + (r + 0.5) * height, view.rowLabel(top + r)));
    for (let c = 0; c < cols; c += 1) {
      const at = {x: side + c * width, y: 20 + r * height, width, height};
      parts.push(cellSvg(view.cell(top + r, left + c), marks.get(`${top + r},${left + c}`), at));
    }
  }
  for (let c = 0; c < cols; c += 1) {
    parts.push(textAt(side + (c + 0.5) * width, 10, view.columnLabel(left + c)));
  }
  const [wide, tall] = [side + cols * width + 2, 20 + rows * height + 2];
  const cut = rows < view.rows || cols < view.cols;
  const title = view.title + (cut ? ` (${rows} x ${cols} of ${view.rows} x ${view.cols})` : "");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${tall}" width="${wide}" ` +
    `height="${tall}" role="img" font-family="monospace" font-size="11" text-anchor="middle">` +
    `<title>${escaped(title)}</title>${parts.join("")}</svg>\n`
  );
}

function textAt(x, y, text) {
  return `<text x="${x}" y="${y}" dy="4">${escaped(text)}</text>`;
}

function cellSvg(cell, marks, {x, y, width, height}) {
  const pieces = cell.pieces ?? [{from: 0, to: 1, ...cell}];
  const parts = pieces.map((piece) => {
    const [from, wide] = [x + piece.from * width, (piece.to - piece.from) * width];
    const edge = piece.crowded ? "#b00020" : "#9aa0a6";
    const box = `<rect x="${from}" y="${y}" width="${wide}" height="${height}" `;
    const text = piece.text ? textAt(from + wide / 2, y + height / 2, piece.text) : "";
    return `${box}fill="${tintColour(piece.tint)}" stroke="${edge}"/>${text}`;
  });
  for (const {mark, from, to} of marks ?? []) {
    const style = cellStyle(mark);
    const wide = (to - from) * width - 2;
    parts.push(
      `<rect x="${x + from * width + 1}" y="${y + 1}" width="${wide}" height="${height - 2}" ` +
        `fill="none" stroke="${style.colour}" stroke-width="${style.width}" ` +
        `stroke-dasharray="${style.dash.join(" ")}"/>`,
    );
  }
  return `<g><title>${escaped(cell.label)}</title>${parts.join("")}</g>`;
}

/** The layout, what is shown of it, its verdicts and, when it is small, its places. */
export function jsonOf(subject, state, verdicts) {
  const {layout} = subject;
  const places = subject.count <= 4096 ? {} : null;
  if (places) {
    for (let flat = 0; flat < subject.count; flat += 1) places[flat] = subject.places(flat);
  }
  const kept = verdicts.map(({queries, ...verdict}) => ({
    ...verdict,
    queries: queries?.length ?? 0,
  }));
  const written = {
    notation: layoutText(layout),
    shape: subject.shape,
    element_bits: subject.elementBits,
    shard: layout.shard,
    replica: layout.replica,
    offset: layout.offsets,
    swizzle: layout.swizzle,
    state,
    verdicts: kept,
    places,
  };
  return `${JSON.stringify(written, null, 1)}\n`;
}

/** All queries behind the verdicts, one after another, each with a comment; "" without any. */
export function smtOf(verdicts) {
  const texts = verdicts.flatMap((verdict) =>
    (verdict.queries ?? []).map(
      (query) => `; ${verdict.claim}\n; ${query.about}\n(reset)\n${query.smt2.trim()}\n`,
    ),
  );
  return texts.join("\n");
}

/** A program that makes the layout, the access if there is one, and asks for the proofs. */
export function pythonOf(subject, state, pick) {
  const lines = [
    "from layout_algebra import BankConflictFree, Buffer, Dim, Injective, parse, prove",
    "",
    `layout = parse(${JSON.stringify(layoutText(subject.layout))})`,
    `shape = (${subject.shape.join(", ")},)`,
    "print(prove(Injective(layout)))",
  ];
  if (!pick) {
    lines[0] = "from layout_algebra import Injective, parse, prove";
    return `${lines.join("\n")}\n`;
  }
  const {free} = pick;
  const where = free
    ? pick.pick === "column"
      ? "lambda lane, at: (lane, at)"
      : `lambda lane, at: (at, ${pick.count} * lane)`
    : `lambda lane: (${pick.pick},)`;
  lines.push(
    `buffer = Buffer(shape, ${JSON.stringify(state.dtype)}, layout, align=${pick.align})`,
    `access = buffer.${pick.kind}(`,
    `    ${where},`,
    `    lanes=${pick.lanes},`,
    `    bytes=${pick.bytes},`,
  );
  if (free) {
    const multiple = free.multiple > 1 ? `multiple_of=${free.multiple}, ` : "";
    lines.push(`    free=[Dim("${free.name}", ${multiple}at_most=${free.most})],`);
  }
  lines.push(")", "print(prove(BankConflictFree(access)))");
  return `${lines.join("\n")}\n`;
}
