// Two layouts compared, composed, inverted, by looking at every element: for small ones.
//
//   compare(a, b, 128).differing          // elements whose places differ
//   inverseTable(layout, 32).layoutText   // the inverse as a layout, where it is one
//
// What is found here is an enumeration of numbers, not a proof; the page says so.
import {layoutText, makeLayout, placeKey, placeOf, placesOf, swizzled} from "./layouts.js";
import {PageError} from "./numbers.js";
import {withSwizzle} from "./reading.js";

/** Elements that an operation looks at. */
export const MOST_ENUMERATED = 1 << 18;

function checkSize(count) {
  if (count > MOST_ENUMERATED) {
    throw new PageError(
      `${count} elements: this page looks at up to ${MOST_ENUMERATED}; ask Python for a proof`,
    );
  }
}

/** Two elements at one place, or null: {flats: [x, y], place}. */
export function collision(layout, count) {
  checkSize(count * layout.copies);
  const seen = new Map();
  for (let flat = 0; flat < count; flat += 1) {
    for (const place of placesOf(layout, flat)) {
      const key = placeKey(place);
      const other = seen.get(key);
      if (other !== undefined && other !== flat) return {flats: [other, flat], place};
      seen.set(key, flat);
    }
  }
  return null;
}

/** The elements that two layouts put at different sets of places. */
export function compare(a, b) {
  const count = Math.min(a.size, b.size);
  checkSize(count * Math.max(a.copies, b.copies));
  const keys = (layout, flat) => placesOf(layout, flat).map(placeKey).sort().join("|");
  const differing = [];
  for (let flat = 0; flat < count; flat += 1) {
    if (keys(a, flat) !== keys(b, flat)) differing.push(flat);
  }
  return {count, sizes: [a.size, b.size], differing};
}

/** A map given by a table: values[flat] is a place. */
function tableOf(values, text) {
  const found = recognised(values) ?? recognisedSwizzled(values);
  return {values, size: values.length, layoutText: found && layoutText(found), layout: found, text};
}

/** outer(inner(x)) for every x of the inner layout; the outer one counts the inner one's places. */
export function composeTable(outer, inner) {
  checkSize(inner.size);
  if (outer.copies > 1 || inner.copies > 1) {
    throw new PageError("layouts with copies are composed in Python: compose(outer, inner)");
  }
  const moving = inner.axes.filter((axis) => inner.ranges[axis].some((bound) => bound !== 0));
  if (moving.length > 1) {
    throw new PageError(`the inner layout has one axis to count on; it has ${moving.join(", ")}`);
  }
  const values = [];
  for (let flat = 0; flat < inner.size; flat += 1) {
    const index = placeOf(inner, flat)[moving[0] ?? "m"] ?? 0;
    if (index < 0 || index >= outer.size) {
      throw new PageError(
        `element ${flat} is at ${index}, which is no element of the outer layout (${outer.size})`,
      );
    }
    values.push(placeOf(outer, index));
  }
  return tableOf(values, "outer(inner(x))");
}

/** The element of every place 0 .. size - 1 of a layout with one axis and no gaps. */
export function inverseTable(layout) {
  checkSize(layout.size);
  if (layout.copies > 1) {
    throw new PageError("an element with copies has no inverse on all places; ask Python");
  }
  const moving = layout.axes.filter((axis) => layout.ranges[axis].some((bound) => bound !== 0));
  if (moving.length > 1) {
    throw new PageError(
      `this page inverts layouts on one axis; this one is on ${moving.join(", ")}: ask Python`,
    );
  }
  const axis = moving[0] ?? "m";
  const values = new Array(layout.size);
  for (let flat = 0; flat < layout.size; flat += 1) {
    const at = placeOf(layout, flat)[axis] ?? 0;
    if (at < 0 || at >= layout.size) {
      throw new PageError(
        `element ${flat} is at ${at}: the places are not 0 to ${layout.size - 1}`,
      );
    }
    if (values[at]) throw new PageError(`elements ${values[at].m} and ${flat} are both at ${at}`);
    values[at] = {m: flat};
  }
  return tableOf(values, "the element at each place");
}

/**
 * The layout whose places are these, or null where there is none with one iter for each factor.
 * From the fastest end: as long as steps are equal they are one iter; the rest is asked again.
 */
export function recognised(values) {
  const axes = [...new Set(values.flatMap((place) => Object.keys(place)))];
  const iters = [];
  let rest = values;
  while (rest.length > 1) {
    const step = stepOf(rest[0], rest[1], axes);
    if (!step) return null;
    let run = 2;
    while (run < rest.length && follows(rest, run, step)) run += 1;
    while (rest.length % run !== 0) run -= 1;
    if (run === 1) return null;
    iters.unshift([run, step[1], step[0]]);
    const first = rest;
    rest = Array.from({length: first.length / run}, (_, k) => first[k * run]);
  }
  const offsets = Object.fromEntries(axes.map((axis) => [axis, values[0][axis] ?? 0]));
  for (const axis of axes) if (offsets[axis] === 0) delete offsets[axis];
  const found = makeLayout(iters, [], offsets, null);
  const agrees = values.every((place, flat) => placeKey(place) === placeKey(placeOf(found, flat)));
  return agrees ? found : null;
}

/** Places of a table in which a swizzle is looked for. */
const MOST_UNSWIZZLED = 1 << 14;

/** The swizzled layout whose places are these, its bits among those that memory has; or null. */
function recognisedSwizzled(values) {
  const onlyM = values.every((place) => Object.keys(place).every((axis) => axis === "m"));
  if (!onlyM || values.length > MOST_UNSWIZZLED) return null;
  for (let atom_len = 1; atom_len <= 5; atom_len += 1) {
    for (let swizzle_len = 1; swizzle_len <= atom_len; swizzle_len += 1) {
      for (let per_element = 0; per_element <= 7; per_element += 1) {
        const swizzle = {per_element, swizzle_len, atom_len, swizzle_inner: true};
        const found = recognised(values.map((place) => ({m: swizzled(swizzle, place.m)})));
        if (found) return withSwizzle(found, swizzle);
      }
    }
  }
  return null;
}

/** [axis, step] between two places that differ on one axis at most; else null. */
function stepOf(from, to, axes) {
  const moved = axes.filter((axis) => (to[axis] ?? 0) !== (from[axis] ?? 0));
  if (moved.length > 1) return null;
  const axis = moved[0] ?? axes[0] ?? "m";
  return [axis, (to[axis] ?? 0) - (from[axis] ?? 0)];
}

function follows(values, k, [axis, step]) {
  const expected = {...values[k - 1], [axis]: (values[k - 1][axis] ?? 0) + step};
  return placeKey(expected) === placeKey(values[k]);
}
