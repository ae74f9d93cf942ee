// The formula of one element, step by step, in plain text lines.
//
//   stepsOf(layout, [8, 16], 19, 0)    // ["f = 1*16 + 3 = 19", "digit of (8, 4@laneid): ...", ...]
import {copyPlace, placeText, swizzled} from "./layouts.js";
import {bitField, digitsOf} from "./numbers.js";

/** The steps from an element's coordinates to the place of one of its copies. */
export function stepsOf(layout, shape, flat, copy) {
  const lines = [flatStep(shape, flat)];
  const sums = Object.fromEntries(layout.axes.map((axis) => [axis, []]));
  const digits = digitsOf(flat, layout.extents);
  let below = 1;
  const digitLines = [];
  for (let k = layout.shard.length - 1; k >= 0; k -= 1) {
    const {extent, stride, axis} = layout.shard[k];
    const reduced = k > 0 ? ` mod ${extent}` : "";
    const divided = below === 1 ? `${flat}` : `floor(${flat} / ${below})`;
    digitLines.unshift(
      `iter (${extent}, ${stride}@${axis}): digit ${divided}${reduced} = ${digits[k]}, ` +
        `${axis} += ${digits[k]} * ${stride} = ${digits[k] * stride}`,
    );
    sums[axis].unshift(`${digits[k] * stride}`);
    below *= extent;
  }
  lines.push(...digitLines);
  for (const axis of Object.keys(layout.offsets).sort()) {
    lines.push(`offset: ${axis} += ${layout.offsets[axis]}`);
    sums[axis].push(`${layout.offsets[axis]}`);
  }
  const copies = digitsOf(
    copy,
    layout.replica.map((iter) => iter.extent),
  );
  layout.replica.forEach(({extent, stride, axis}, t) => {
    lines.push(
      `copy ${copies[t]} of ${extent}: ${axis} += ${copies[t]} * ${stride} = ${copies[t] * stride}`,
    );
    sums[axis].push(`${copies[t] * stride}`);
  });
  return [...lines, ...lastSteps(layout, flat, copy, sums)];
}

function flatStep(shape, flat) {
  const at = digitsOf(flat, shape);
  let weight = 1;
  const parts = [];
  for (let d = shape.length - 1; d >= 0; d -= 1) {
    parts.unshift(weight === 1 ? `${at[d]}` : `${at[d]}*${weight}`);
    weight *= shape[d];
  }
  return `flat index of (${at.join(", ")}): ${parts.join(" + ") || "0"} = ${flat}`;
}

/** The sums on every axis, the XOR, and the place. */
function lastSteps(layout, flat, copy, sums) {
  const tile = {...layout, swizzle: null};
  const before = copyPlace(tile, flat, copy);
  const lines = layout.axes
    .filter((axis) => sums[axis].length > 1)
    .map((axis) => `sum: ${axis} = ${sums[axis].join(" + ")} = ${before[axis]}`);
  const {swizzle} = layout;
  if (swizzle && swizzle.swizzle_len > 0) {
    const {per_element: p, swizzle_len: b, atom_len: a} = swizzle;
    const [source, target] = swizzle.swizzle_inner ? [p + a, p] : [p, p + a];
    const field = bitField(before.m, source, b);
    lines.push(
      `swizzle: field floor(${before.m} / 2^${source}) mod 2^${b} = ${field}; ` +
        `${before.m} xor ${field} * 2^${target} = ${swizzled(swizzle, before.m)}`,
    );
  }
  return [...lines, `place: ${placeText(copyPlace(layout, flat, copy))}`];
}
