// What a page shows, as a plain object and as the part of the address after '#'.
//
//   addressOf({...DEFAULTS, view: "owner", element: 7})    // "view=owner&element=7"
export const DEFAULTS = {
  layout: "",
  shape: "",
  dtype: "float16",
  rowAxis: 0,
  columnAxis: 1,
  fixed: "",
  view: "",
  physicalRow: "",
  physicalColumn: "",
  physicalFixed: "",
  width: 0,
  colour: "owner",
  cellText: "place",
  zoom: 2,
  element: -1,
  copy: 0,
  access: "",
  bytes: 0,
  kind: "read",
  target: 0,
  base: 0,
  position: 0,
  wavefront: 0,
  operation: "",
  other: "",
};

/** The state as text for the address; what is as in `defaults` is left out. */
export function addressOf(state, defaults = DEFAULTS) {
  const parameters = new URLSearchParams();
  for (const name of Object.keys(DEFAULTS)) {
    if (state[name] !== defaults[name]) parameters.set(name, `${state[name]}`);
  }
  return parameters.toString();
}

/** The state of an address; unknown names and numbers that are none are left at the default. */
export function stateOf(address, defaults = DEFAULTS) {
  const state = {...defaults};
  for (const [name, text] of new URLSearchParams(address.replace(/^#/, ""))) {
    if (!(name in DEFAULTS)) continue;
    if (typeof DEFAULTS[name] === "string") state[name] = text;
    else if (/^-?\d{1,15}$/.test(text)) state[name] = Number(text);
  }
  return state;
}
