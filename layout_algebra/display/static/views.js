// What is drawn: a view is rows, columns and a cell for each, whatever paints it.
//
//   view = {name, title, rows, cols, rowTitle, columnTitle, rowLabel(r), columnLabel(c),
//           cell(r, c) -> {text, tint, pieces?, flats, complete, label},
//           cellsOf(flat) -> [[r, c, copy, from?, to?]]}
//
// tint is a small number, one colour each, or -1 for none.  pieces cut a cell, {from, to, tint,
// text} with from and to between 0 and 1.  flats are the elements in the cell.
import {elementsAt, placeKey, placeRange, placeText, placesOf} from "./layouts.js";
import {PageError, digitsOf, modulo, numberOf, product} from "./numbers.js";

/** The most rows and columns of a view: what a browser can scroll. */
export const MOST_LINES = 1 << 19;
/** Colours that are told apart. */
export const TINTS = 24;

/** A layout as views see it: shape, elements, places. */
export function subjectOf(layout, shape, elementBits, axes) {
  return {
    layout,
    shape,
    elementBits,
    count: product(shape),
    axes: layout.axes,
    places: (flat) => placesOf(layout, flat),
    kindOf: (axis) => axes.find((one) => one.name === axis)?.kind ?? "memory",
  };
}

/** A table of places as views see it. */
export function subjectOfTable(table, shape, elementBits, axes) {
  const names = [...new Set(table.values.flatMap((place) => Object.keys(place)))];
  return {
    layout: null,
    shape,
    elementBits,
    count: table.values.length,
    axes: names,
    places: (flat) => [table.values[flat]],
    kindOf: (axis) => axes.find((one) => one.name === axis)?.kind ?? "memory",
  };
}

export function elementName(flat, shape) {
  return `(${digitsOf(flat, shape).join(", ")})`;
}

/** A view whose cells are made once each. */
function remembering(view) {
  const made = new Map();
  const make = view.cell;
  view.rows = Math.min(view.rows, MOST_LINES);
  view.cols = Math.min(view.cols, MOST_LINES);
  view.cell = (r, c) => {
    const key = r * view.cols + c;
    let cell = made.get(key);
    if (!cell) {
      if (made.size > 100000) made.clear();
      cell = make(r, c);
      made.set(key, cell);
    }
    return cell;
  };
  return view;
}

// -- colours ------------------------------------------------------------------------------------
/** The number that colours a place. */
export function tintOf(subject, place, colour, wordBits = 32) {
  if (colour === "none") return -1;
  const memory = place.m ?? 0;
  if (colour === "register") return modulo(memory, TINTS);
  if (colour === "bank")
    return modulo(Math.floor((memory * subject.elementBits) / wordBits), TINTS);
  const threads = subject.axes.filter((axis) => subject.kindOf(axis) !== "memory");
  const owners = threads.length ? threads : subject.axes;
  let total = 0;
  owners.forEach((axis, k) => {
    total += place[axis] * (threads.length ? [1, 5, 7][k % 3] : [1, 3][k % 2]);
  });
  return modulo(total, TINTS);
}

// -- the logical grid ---------------------------------------------------------------------------
/**
 * Two of the logical dimensions, the others at fixed coordinates.
 * @param options {row, column: dimension numbers or -1, fixed: number[], colour, cellText}
 */
export function logicalView(subject, options) {
  const {shape} = subject;
  const {row, column, fixed} = options;
  const flatAt = (r, c) => {
    const at = shape.map((_, d) => (d === row ? r : d === column ? c : (fixed[d] ?? 0)));
    return numberOf(at, shape);
  };
  const moving = movingAxes(subject);
  const name = (d) => (d < 0 ? "" : dimensionName(d, shape.length));
  return remembering({
    name: "logical",
    title: "Logical elements",
    rows: row < 0 ? 1 : shape[row],
    cols: column < 0 ? 1 : shape[column],
    rowTitle: name(row),
    columnTitle: name(column),
    rowLabel: (r) => `${r}`,
    columnLabel: (c) => `${c}`,
    cell: (r, c) => logicalCell(subject, flatAt(r, c), moving, options),
    cellsOf: (flat) => {
      const at = digitsOf(flat, shape);
      const shown = at.every((x, d) => d === row || d === column || x === (fixed[d] ?? 0));
      return shown ? [[row < 0 ? 0 : at[row], column < 0 ? 0 : at[column], 0]] : [];
    },
  });
}

export function dimensionName(d, rank) {
  return rank <= 3 ? "ijk"[d] : `i${d}`;
}

/** The axes that say where an element is; all of them where none moves. */
function movingAxes(subject) {
  if (!subject.layout) return subject.axes;
  const moving = subject.axes.filter((axis) => {
    const [low, high] = placeRange(subject.layout, axis);
    return low !== 0 || high !== 0;
  });
  return moving.length ? moving : subject.axes;
}

function logicalCell(subject, flat, moving, options) {
  const places = subject.places(flat);
  const values = moving.map((axis) => places[0][axis] ?? 0).join(",");
  const more = places.length > 1 ? "+" : "";
  const text = options.cellText === "element" ? `${flat}` : values + more;
  const shown = places.map(placeText).slice(0, 8).join("; ");
  return {
    text,
    tint: tintOf(subject, places[0], options.colour),
    flats: [flat],
    complete: true,
    label: `element ${elementName(flat, subject.shape)}: ${shown}`,
  };
}

// -- the machine --------------------------------------------------------------------------------
/** The elements of a place as a cell. */
function placeCell(subject, place, colour) {
  const {flats, complete} = elementsAt(subject.layout, place, subject.count);
  const names = flats.map((flat) => elementName(flat, subject.shape));
  const more = !complete ? " ..." : flats.length > 1 ? ` +${flats.length - 1}` : "";
  const short = flats.length ? digitsOf(flats[0], subject.shape).join(",") : complete ? "" : "?";
  const held = names.slice(0, 4).join(", ") || (complete ? "empty" : "not searched to the end");
  return {
    text: short + more,
    tint: flats.length ? tintOf(subject, place, colour) : -1,
    crowded: flats.length > 1,
    flats,
    complete,
    label: `${placeText(place)}: ${held}${names.length > 4 ? ` and ${names.length - 4} more` : ""}`,
  };
}

/** Any two axes of the machine, the others at fixed numbers; an axis may be "" for none. */
export function placesView(subject, options) {
  const {layout} = subject;
  const range = (axis) => (axis ? placeRange(layout, axis) : [0, 0]);
  const [rowLow, rowHigh] = range(options.rowAxis);
  const [columnLow, columnHigh] = range(options.columnAxis);
  const placeAt = (r, c) => {
    const place = {};
    for (const axis of subject.axes) place[axis] = options.fixed[axis] ?? range(axis)[0];
    if (options.rowAxis) place[options.rowAxis] = rowLow + r;
    if (options.columnAxis) place[options.columnAxis] = columnLow + c;
    return place;
  };
  return remembering({
    name: "places",
    title: "Places",
    rows: rowHigh - rowLow + 1,
    cols: columnHigh - columnLow + 1,
    rowTitle: options.rowAxis,
    columnTitle: options.columnAxis,
    rowLabel: (r) => `${rowLow + r}`,
    columnLabel: (c) => `${columnLow + c}`,
    cell: (r, c) => placeCell(subject, placeAt(r, c), options.colour),
    cellsOf: (flat) =>
      subject
        .places(flat)
        .map((place, copy) => [
          options.rowAxis ? place[options.rowAxis] - rowLow : 0,
          options.columnAxis ? place[options.columnAxis] - columnLow : 0,
          copy,
          placeKey(place),
        ])
        .filter(([r, c, , key]) => placeKey(placeAt(r, c)) === key),
  });
}

/** One axis wrapped: `width` places to a row. */
export function wrappedView(subject, options) {
  const [low, high] = placeRange(subject.layout, options.axis);
  const {axis, width} = options;
  const start = Math.floor(low / width) * width;
  const placeAt = (r, c) => {
    const place = {};
    for (const one of subject.axes) place[one] = options.fixed?.[one] ?? 0;
    place[axis] = start + r * width + c;
    return place;
  };
  return remembering({
    name: "places",
    title: `Places on ${axis}, ${width} to a row`,
    rows: Math.floor((high - start) / width) + 1,
    cols: width,
    rowTitle: axis,
    columnTitle: "+",
    rowLabel: (r) => `${start + r * width}`,
    columnLabel: (c) => `${c}`,
    cell: (r, c) => placeCell(subject, placeAt(r, c), options.colour),
    cellsOf: (flat) =>
      subject.places(flat).map((place, copy) => {
        const at = (place[axis] ?? 0) - start;
        return [Math.floor(at / width), at % width, copy];
      }),
  });
}

/** Who holds what: one row for each thread (all thread axes together), registers in columns. */
export function ownerView(subject, options) {
  const {layout} = subject;
  const owners = subject.axes.filter((axis) => subject.kindOf(axis) !== "memory");
  if (!owners.length) throw new PageError("no axis of this layout counts lanes, warps or devices");
  const slots = subject.axes.find((axis) => !owners.includes(axis)) ?? "m";
  const ranges = owners.map((axis) => placeRange(layout, axis));
  const radices = ranges.map(([low, high]) => high - low + 1);
  const [low, high] = placeRange(layout, slots);
  const placeAt = (r, c) => {
    const place = {};
    for (const axis of subject.axes) place[axis] = options.fixed[axis] ?? 0;
    digitsOf(r, radices).forEach((digit, k) => {
      place[owners[k]] = ranges[k][0] + digit;
    });
    return {...place, [slots]: low + c};
  };
  const ownerAt = (r) => digitsOf(r, radices).map((digit, k) => ranges[k][0] + digit);
  return remembering({
    name: "owner",
    title: `Owners (${owners.join(", ")}) and their ${slots === "m" ? "registers" : slots}`,
    rows: product(radices),
    cols: high - low + 1,
    rowTitle: owners.join(","),
    columnTitle: slots,
    rowLabel: (r) => ownerAt(r).join(","),
    columnLabel: (c) => `${low + c}`,
    cell: (r, c) => placeCell(subject, placeAt(r, c), options.colour),
    cellsOf: (flat) =>
      subject.places(flat).map((place, copy) => [
        numberOf(
          owners.map((axis, k) => place[axis] - ranges[k][0]),
          radices,
        ),
        (place[slots] ?? 0) - low,
        copy,
      ]),
  });
}
