// What a layout means, and which elements lie at a place.
//
//   const layout = makeLayout([[8, 4, "laneid"], [2, 1, "m"]], [], {laneid: 1}, null);
//   placesOf(layout, 3);                       // [{laneid: 5, m: 1}]
//   elementsAt(layout, {laneid: 5, m: 1});     // {flats: [3], complete: true}
//
// The definition is that of the Python library's semantics.py: digits of the flat index in the
// mixed radix of the extents, last one fastest; their strides added up on each axis; the offset;
// one place for each value of the replicas; and then the XOR of a swizzle on axis m.
import {PageError, bitField, digitsOf, exact, product, xor} from "./numbers.js";

/** Copies of one element, and elements of one place, that are looked at. */
export const MOST_COPIES = 4096;
export const MOST_FOUND = 64;
/** Steps of the search for the elements of one place. */
const MOST_STEPS = 20000;

/**
 * A checked layout.
 * @param shard, replica lists of [extent, stride, axis]; @param offsets axis -> number;
 * @param swizzle null or {per_element, swizzle_len, atom_len, swizzle_inner}.
 */
export function makeLayout(shard, replica, offsets, swizzle) {
  const iters = (list) => list.map(([extent, stride, axis]) => ({extent, stride, axis}));
  const layout = {shard: iters(shard), replica: iters(replica), offsets: {...offsets}, swizzle};
  for (const {extent} of [...layout.shard, ...layout.replica]) {
    if (extent < 1) throw new PageError(`an extent is at least 1; got ${extent}`);
  }
  if (swizzle) checkSwizzle(swizzle);
  layout.size = product(layout.shard.map((iter) => iter.extent));
  layout.copies = product(layout.replica.map((iter) => iter.extent));
  layout.axes = axesOf(layout);
  layout.ranges = Object.fromEntries(layout.axes.map((axis) => [axis, affineRange(layout, axis)]));
  layout.extents = layout.shard.map((iter) => iter.extent);
  return layout;
}

function checkSwizzle(swizzle) {
  for (const name of ["per_element", "swizzle_len", "atom_len"]) {
    const bits = swizzle[name];
    if (!Number.isInteger(bits) || bits < 0 || bits > 63) {
      throw new PageError(`${name} is a number of bits, 0 to 63; got ${bits}`);
    }
  }
  if (swizzle.atom_len < swizzle.swizzle_len) {
    throw new PageError(
      `a swizzled layout has atom_len >= swizzle_len; got ${swizzle.atom_len} and ` +
        `${swizzle.swizzle_len}`,
    );
  }
}

function axesOf(layout) {
  const found = new Set([...layout.shard, ...layout.replica].map((iter) => iter.axis));
  for (const axis of Object.keys(layout.offsets)) found.add(axis);
  if (layout.swizzle) found.add("m");
  return [...found];
}

/** Lowest and highest number on an axis before the swizzle; throws where 2^53 is passed. */
function affineRange(layout, axis) {
  let low = BigInt(layout.offsets[axis] ?? 0);
  let high = low;
  for (const iter of [...layout.shard, ...layout.replica]) {
    if (iter.axis !== axis) continue;
    const reach = BigInt(iter.extent - 1) * BigInt(iter.stride);
    if (reach < 0n) low += reach;
    else high += reach;
  }
  return [exact(low), exact(high)];
}

/** The lowest and the highest place on an axis; after a swizzle perhaps wider than they are. */
export function placeRange(layout, axis) {
  const [low, high] = layout.ranges[axis] ?? [0, 0];
  const swizzle = layout.swizzle;
  if (axis !== "m" || !swizzle || swizzle.swizzle_len === 0) return [low, high];
  const block = 2 ** (swizzle.per_element + swizzle.swizzle_len + swizzle.atom_len);
  const top =
    low >= 0 && swizzle.swizzle_inner ? 2 ** Math.ceil(Math.log2(high + 1)) - 1 : Infinity;
  const end = Math.min(block * (Math.floor(high / block) + 1) - 1, top);
  return [block * Math.floor(low / block), exact(Math.max(end, high))];
}

/** An address of axis m after the XOR of the swizzle; null leaves it. */
export function swizzled(swizzle, address) {
  if (!swizzle || swizzle.swizzle_len === 0) return address;
  const {per_element: p, swizzle_len: b, atom_len: a} = swizzle;
  const [source, target] = swizzle.swizzle_inner ? [p + a, p] : [p, p + a];
  const field = bitField(address, source, b);
  return field === 0 ? address : exact(xor(address, field * 2 ** target));
}

/** The place of an element's first copy: axis -> number, for all axes of the layout. */
export function placeOf(layout, flat) {
  return copyPlace(layout, flat, 0);
}

/** The place of one copy; copies are numbered with the last replica fastest. */
export function copyPlace(layout, flat, copy) {
  const place = {};
  for (const axis of layout.axes) place[axis] = layout.offsets[axis] ?? 0;
  let rest = flat;
  for (let k = layout.shard.length - 1; k >= 0; k -= 1) {
    const {extent, stride, axis} = layout.shard[k];
    const digit = k > 0 ? rest % extent : rest;
    rest = Math.floor(rest / extent);
    place[axis] += digit * stride;
  }
  const copies = digitsOf(
    copy,
    layout.replica.map((iter) => iter.extent),
  );
  layout.replica.forEach(({stride, axis}, t) => {
    place[axis] += copies[t] * stride;
  });
  if (layout.swizzle) place.m = swizzled(layout.swizzle, place.m);
  return place;
}

/** The number of an element on axis m; 0 where the layout has no such axis. */
export function addressOn(layout, flat) {
  return placeOf(layout, flat).m ?? 0;
}

/** Every place of one element, each once, in the order of the replicas. */
export function placesOf(layout, flat) {
  const count = Math.min(layout.copies, MOST_COPIES);
  if (count === 1) return [copyPlace(layout, flat, 0)];
  const found = new Map();
  for (let copy = 0; copy < count; copy += 1) {
    const place = copyPlace(layout, flat, copy);
    const key = placeKey(place);
    if (!found.has(key)) found.set(key, place);
  }
  return [...found.values()];
}

/** A text that is equal for equal places: axes at 0 are left out. */
export function placeKey(place) {
  return Object.keys(place)
    .filter((axis) => place[axis] !== 0)
    .sort()
    .map((axis) => `${axis}=${place[axis]}`)
    .join(",");
}

/** "laneid = 5, m = 1" */
export function placeText(place) {
  return Object.entries(place)
    .map(([axis, value]) => `${axis} = ${value}`)
    .join(", ");
}

/**
 * The elements that lie at a place, found from the strides, not from a table: at any size.
 * @returns {{flats: number[], complete: boolean}} complete: false where the search was cut short.
 */
export function elementsAt(layout, place, below = layout.size) {
  const search = searchOf(layout);
  for (const axis of Object.keys(place)) {
    if (!layout.axes.includes(axis) && place[axis] !== 0) return {flats: [], complete: true};
  }
  const wanted = layout.axes.map((axis) => {
    const value = place[axis] ?? 0;
    const before = axis === "m" ? swizzled(layout.swizzle, value) : value; // its own inverse
    return before - (layout.offsets[axis] ?? 0);
  });
  const run = {wanted, steps: 0, found: new Set(), below};
  const complete = descend(search, 0, 0, run);
  return {flats: [...run.found].sort((a, b) => a - b), complete};
}

const searches = new WeakMap();

/**
 * The iters in the order in which they are tried, long steps first, axes as numbers; and for every
 * axis the lowest and highest number that the iters from k on can still reach.
 */
function searchOf(layout) {
  if (searches.has(layout)) return searches.get(layout);
  let weight = 1;
  const iters = [];
  const add = ({extent, stride, axis}, own) =>
    iters.push({extent, stride, axis: layout.axes.indexOf(axis), weight: own});
  for (const iter of [...layout.shard].reverse()) {
    if (iter.extent > 1) add(iter, weight);
    weight *= iter.extent;
  }
  for (const iter of layout.replica) if (iter.extent > 1 && iter.stride !== 0) add(iter, 0);
  iters.sort((a, b) => Math.abs(b.stride) - Math.abs(a.stride));
  const lows = [layout.axes.map(() => 0)];
  const highs = [layout.axes.map(() => 0)];
  for (const {extent, stride, axis} of [...iters].reverse()) {
    const most = (extent - 1) * stride;
    lows.unshift(lows[0].map((low, k) => (k === axis ? low + Math.min(0, most) : low)));
    highs.unshift(highs[0].map((high, k) => (k === axis ? high + Math.max(0, most) : high)));
  }
  const search = {iters, lows, highs};
  searches.set(layout, search);
  return search;
}

/** Tries the digits of iter k and of those after it; false where it stopped early. */
function descend(search, k, flat, run) {
  const {wanted} = run;
  run.steps += 1;
  if (run.steps > MOST_STEPS) return false;
  const [lows, highs] = [search.lows[k], search.highs[k]];
  for (let axis = 0; axis < wanted.length; axis += 1) {
    if (wanted[axis] < lows[axis] || wanted[axis] > highs[axis]) return true;
  }
  if (k === search.iters.length) {
    if (flat < run.below) run.found.add(flat);
    return run.found.size <= MOST_FOUND;
  }
  const {extent, stride, axis, weight} = search.iters[k];
  const target = wanted[axis];
  const [first, last] = fitting(search, k, target);
  let complete = true;
  for (let digit = first; complete && digit <= last && digit < extent; digit += 1) {
    wanted[axis] = target - digit * stride;
    complete = descend(search, k + 1, flat + digit * weight, run);
  }
  wanted[axis] = target;
  return complete;
}

/** The first and the last digit of iter k after which the others can still reach the target. */
function fitting(search, k, target) {
  const {extent, stride, axis} = search.iters[k];
  if (stride === 0) return [0, extent - 1];
  const a = (target - search.highs[k + 1][axis]) / stride;
  const b = (target - search.lows[k + 1][axis]) / stride;
  const [low, high] = a < b ? [a, b] : [b, a];
  return [Math.max(0, Math.ceil(low)), Math.min(extent - 1, Math.floor(high))];
}

// -- text ---------------------------------------------------------------------------------------
/** The notation of a layout, the same text that Python writes. */
export function layoutText(layout) {
  const {swizzle} = layout;
  const tile = tileText(layout);
  if (!swizzle) return tile;
  const inner = swizzle.swizzle_inner ? "" : ", swizzle_inner=False";
  const bits = `${swizzle.per_element}, ${swizzle.swizzle_len}, ${swizzle.atom_len}`;
  return `ComposeLayout(${bits}, ${tile}${inner})`;
}

/** S[...] + R[...] + offset, without the swizzle. */
export function tileText(layout) {
  const parts = [makerText("S", layout.shard)];
  if (layout.replica.length) parts.push(makerText("R", layout.replica));
  return [...parts, ...offsetTexts(layout)].join(" + ");
}

export function offsetTexts(layout) {
  return Object.keys(layout.offsets)
    .sort()
    .map((axis) => onAxis(layout.offsets[axis], axis));
}

export function makerText(name, iters) {
  if (!iters.length) return `${name}[()]`;
  const extents = iters.map((iter) => iter.extent);
  const strides = iters.map((iter) => onAxis(iter.stride, iter.axis));
  if (iters.length === 1) return `${name}[${extents[0]} : ${strides[0]}]`;
  return `${name}[(${extents.join(", ")}) : (${strides.join(", ")})]`;
}

function onAxis(value, axis) {
  return axis === "m" ? `${value}` : `${value}@${axis}`;
}

/** The CuTe text of the same function of the index; null where CuTe has none. */
export function cuteText(layout) {
  if (layout.replica.some((iter) => iter.extent > 1)) return null;
  const moving = layout.shard.filter((iter) => iter.extent > 1 && iter.stride !== 0);
  const axes = new Set(moving.map((iter) => iter.axis));
  for (const [axis, value] of Object.entries(layout.offsets)) if (value !== 0) axes.add(axis);
  if (layout.swizzle) axes.add("m");
  if (axes.size > 1) return null;
  const modes = layout.shard.length ? [...layout.shard].reverse() : [{extent: 1, stride: 0}];
  const list = (values) => (values.length === 1 ? `${values[0]}` : `(${values.join(",")})`);
  const inner = `${list(modes.map((i) => i.extent))}:${list(modes.map((i) => i.stride))}`;
  const offset = Object.values(layout.offsets).reduce((a, b) => a + b, 0);
  if (!layout.swizzle) return offset === 0 ? inner : `Sw<0,0,0> o ${offset} o ${inner}`;
  const {per_element: p, swizzle_len: b, atom_len: a, swizzle_inner: in_} = layout.swizzle;
  return `Sw<${b},${p},${in_ ? a : -a}> o ${offset} o ${inner}`;
}
