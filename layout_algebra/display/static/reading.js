// Text to layouts: the notation S[...] + R[...] + offset, ComposeLayout(...), CuTe texts, shapes.
//
//   readLayout("S[(8, 2) : (4@laneid, 1)] + 5@laneid", ["laneid", "m"])
//   readLayout("Sw<3,4,3> o 0 o (8,64):(64,1)", ["m"])
//
// The same texts that Python's parse reads, except Dims: a page draws layouts of numbers.
import {layoutText, makeLayout} from "./layouts.js";
import {PageError, exact, floorDiv, modulo} from "./numbers.js";
import {readTree} from "./tokens.js";

const SWIZZLE_ARGUMENTS = [
  "per_element",
  "swizzle_len",
  "atom_len",
  "tile_layout",
  "swizzle_inner",
];

/** The layout of a text in either notation. @param axes names of the known axes */
export function readLayout(text, axes) {
  if (!text.trim()) throw new PageError("write a layout, like S[(8, 4) : (4@laneid, 1)]", 0);
  if (isCute(text)) return readCute(text);
  const value = layoutValue(readTree(text), new Set(axes));
  if (value.kind === "spec") return layoutOfSpec(value);
  if (value.kind === "layout") return value.layout;
  throw new PageError("a layout is S[...] + R[...] + offset, or a CuTe text shape:stride", 0);
}

/** Whether a text is CuTe's: shape:stride, or Sw<B,M,S> o offset o shape:stride. */
export function isCute(text) {
  return /^\s*(Sw\s*<|[(_\d])[^[\]@SR]*:[^[\]@SR]*$/.test(text.replace(/^\s*Sw\s*<[^>]*>/, "(0"));
}

// -- the notation -------------------------------------------------------------------------------
function layoutOfSpec(spec) {
  const {plain, reg} = spec.spelled;
  if (plain && reg) {
    throw new PageError("@reg is another spelling of m: use one of them in a layout");
  }
  return makeLayout(spec.shard ?? [], spec.replica ?? [], spec.offsets, null);
}

function layoutValue(tree, axes) {
  switch (tree.kind) {
    case "number":
      return {kind: "size", value: exact(tree.text.replaceAll("_", ""))};
    case "text":
      return {kind: "text", value: tree.text.slice(1, -1)};
    case "name":
      return nameValue(tree, axes);
    case "tuple":
      return {kind: "tuple", parts: tree.parts.map((part) => layoutValue(part, axes))};
    case "minus":
    case "plus":
      return signedValue(tree, axes);
    case "brackets":
      return bracketsValue(tree, axes);
    case "call":
      return callValue(tree, axes);
    case "keyword":
    case "slice":
      throw new PageError("the notation has no such thing here", tree.column);
    default:
      return binaryValue(tree, axes);
  }
}

function nameValue(tree, axes) {
  const name = tree.text;
  if (name === "S" || name === "R") return {kind: "maker", name};
  if (name === "True" || name === "False") return {kind: "flag", value: name === "True"};
  if (["TileLayout", "ComposeLayout", "Dim"].includes(name)) return {kind: "maker", name};
  if (axes.has(name)) return {kind: "axis", name};
  throw new PageError(`${name} is no axis; this page knows ${[...axes].join(", ")}`, tree.column);
}

function signedValue(tree, axes) {
  const value = layoutValue(tree.value, axes);
  const factor = tree.kind === "minus" ? -1 : 1;
  if (value.kind === "size") return {kind: "size", value: factor * value.value};
  if (value.kind === "terms") {
    return {kind: "terms", terms: value.terms.map(([number, axis]) => [factor * number, axis])};
  }
  throw new PageError("a sign stands before a number", tree.column);
}

function binaryValue(tree, axes) {
  const left = layoutValue(tree.left, axes);
  const right = layoutValue(tree.right, axes);
  if (tree.kind === "@") {
    if (left.kind !== "size" || right.kind !== "axis") {
      throw new PageError("@ stands between a number and an axis, as in 4@laneid", tree.column);
    }
    return {kind: "terms", terms: [[left.value, right.name]]};
  }
  if (left.kind === "size" && right.kind === "size") return arithmetic(tree, left, right);
  if (tree.kind === "+") return sumValue(tree, left, right);
  if (tree.kind === "-" && left.kind === "spec") {
    throw new PageError(
      "write a negative offset as + (-n) or + (-n)@axis, not with -",
      tree.column,
    );
  }
  throw new PageError(`${tree.kind} has a number on either side`, tree.column);
}

function arithmetic(tree, {value: a}, {value: b}) {
  if ((tree.kind === "//" || tree.kind === "%") && b === 0) {
    throw new PageError(`${tree.kind} by 0`, tree.column);
  }
  const found = {"+": a + b, "-": a - b, "*": a * b, "//": floorDiv(a, b), "%": modulo(a, b)};
  if (!(tree.kind in found)) {
    throw new PageError(
      `${tree.kind} is not part of the notation: numbers have + - * // %`,
      tree.column,
    );
  }
  return {kind: "size", value: exact(found[tree.kind])};
}

function sumValue(tree, left, right) {
  const sides = [left, right].map((side) => asSpec(tree, side));
  if ([left, right].every((side) => side.kind !== "spec")) {
    return {kind: "terms", terms: [...termsOf(left), ...termsOf(right)]};
  }
  const [a, b] = sides;
  for (const [name, part] of [
    ["S", "shard"],
    ["R", "replica"],
  ]) {
    if (a[part]?.length && b[part]?.length) {
      throw new PageError(`a layout has one ${name}[...]: join its iters in one list`, tree.column);
    }
  }
  const offsets = {...a.offsets};
  for (const [axis, value] of Object.entries(b.offsets)) {
    offsets[axis] = exact((offsets[axis] ?? 0) + value);
  }
  return {
    kind: "spec",
    shard: a.shard?.length ? a.shard : (b.shard ?? a.shard),
    replica: a.replica?.length ? a.replica : (b.replica ?? a.replica),
    offsets,
    spelled: {plain: a.spelled.plain || b.spelled.plain, reg: a.spelled.reg || b.spelled.reg},
  };
}

function termsOf(side) {
  return side.kind === "size" ? [[side.value, "m"]] : side.terms;
}

/** A side of a sum as S, R and offsets. */
function asSpec(tree, side) {
  if (side.kind === "spec") return side;
  if (side.kind !== "size" && side.kind !== "terms") {
    const hint = side.kind === "axis" ? `: write n@${side.name}` : "";
    const why =
      side.kind === "layout" ? "inside the brackets of TileLayout(...)" : `as n@axis${hint}`;
    throw new PageError(`an offset is added ${why}`, tree.column);
  }
  const made = {kind: "spec", offsets: {}, spelled: {plain: false, reg: false}};
  for (const [value, axis] of termsOf(side)) {
    const name = spell(axis, made.spelled);
    made.offsets[name] = exact((made.offsets[name] ?? 0) + value);
  }
  return made;
}

/** The axis' name, m for reg; notes which of the two spellings was used. */
function spell(axis, spelled) {
  if (axis === "m") spelled.plain = true;
  if (axis === "reg") spelled.reg = true;
  return axis === "reg" ? "m" : axis;
}

function bracketsValue(tree, axes) {
  const maker = layoutValue(tree.of, axes);
  if (maker.kind !== "maker" || !["S", "R"].includes(maker.name)) {
    throw new PageError("only S and R are followed by [...]", tree.column);
  }
  const {inside} = tree;
  const [extentTree, strideTree] =
    inside.kind === "slice" ? [inside.left, inside.right] : [inside, null];
  const extentsGiven = layoutValue(extentTree, axes);
  const extents = listOf(extentsGiven).map((part) => extentOf(part, extentTree));
  const spelled = {plain: false, reg: false};
  const strides = strideTree
    ? stridesOf(maker.name, extentsGiven, layoutValue(strideTree, axes), strideTree)
    : rowMajor(extents);
  const iters = extents.map((extent, k) => [extent, strides[k][0], spell(strides[k][1], spelled)]);
  const empty = {kind: "spec", offsets: {}, spelled};
  return maker.name === "S" ? {...empty, shard: iters} : {...empty, replica: iters};
}

function listOf(value) {
  return value.kind === "tuple" ? value.parts : [value];
}

function extentOf(part, tree) {
  if (part.kind !== "size" || part.value < 1) {
    const shown = part.kind === "size" ? part.value : `a ${part.kind}`;
    throw new PageError(`an extent is a whole number, at least 1; got ${shown}`, tree.column);
  }
  return part.value;
}

/** [[stride, axis], ...], one for each extent. */
function stridesOf(name, extents, given, tree) {
  if ((extents.kind === "tuple") !== (given.kind === "tuple")) {
    throw new PageError(
      `${name}[...]: extents and strides are both lists or both single`,
      tree.column,
    );
  }
  const list = listOf(given);
  const count = listOf(extents).length;
  if (list.length !== count) {
    throw new PageError(
      `${name}[...]: one stride for each extent; got ${count} extents and ${list.length} strides`,
      tree.column,
    );
  }
  return list.map((part) => strideOf(part, tree));
}

function isAxis(part) {
  return part.kind === "axis" || part.kind === "text";
}

function strideOf(part, tree) {
  if (part.kind === "size") return [part.value, "m"];
  if (part.kind === "terms" && part.terms.length === 1) return part.terms[0];
  if (part.kind === "axis") return [1, part.name];
  if (part.kind === "text") return [1, part.value];
  if (part.kind === "tuple" && part.parts.length === 2 && isAxis(part.parts[1])) {
    const [value, axis] = part.parts;
    if (value.kind === "size") return [value.value, axis.name ?? axis.value];
  }
  throw new PageError("a stride is a number, n@axis or an axis", tree.column);
}

function rowMajor(extents) {
  let below = 1;
  const strides = [];
  for (const extent of [...extents].reverse()) {
    strides.unshift([below, "m"]);
    below = exact(below * extent);
  }
  return strides;
}

function callValue(tree, axes) {
  const maker = layoutValue(tree.of, axes);
  if (maker.name === "Dim") {
    throw new PageError("a page draws layouts of numbers: put a number for the Dim", tree.column);
  }
  if (maker.name === "TileLayout") {
    const value = tree.parts.length === 1 ? layoutValue(tree.parts[0], axes) : {};
    if (value.kind !== "spec") throw new PageError("TileLayout takes S[...] ...", tree.column);
    return {kind: "layout", layout: layoutOfSpec(value)};
  }
  if (maker.name !== "ComposeLayout") {
    throw new PageError("the notation calls TileLayout and ComposeLayout only", tree.column);
  }
  const given = {};
  tree.parts.forEach((part, k) => {
    const name = part.kind === "keyword" ? part.text : SWIZZLE_ARGUMENTS[k];
    given[name] = layoutValue(part.kind === "keyword" ? part.value : part, axes);
  });
  return {kind: "layout", layout: composed(given, tree)};
}

function composed(given, tree) {
  for (const name of Object.keys(given)) {
    if (!SWIZZLE_ARGUMENTS.includes(name)) {
      throw new PageError(`ComposeLayout(${SWIZZLE_ARGUMENTS.join(", ")})`, tree.column);
    }
  }
  const [p, b, a] = SWIZZLE_ARGUMENTS.slice(0, 3).map((name) => given[name]?.value);
  const spec = given.tile_layout;
  const tile = spec?.kind === "spec" ? layoutOfSpec(spec) : spec?.layout;
  if (!tile || tile.swizzle || given.tile_layout.kind === "size") {
    throw new PageError("the fourth argument of ComposeLayout is S[...] ...", tree.column);
  }
  const swizzle_inner = given.swizzle_inner?.value ?? true;
  if (typeof swizzle_inner !== "boolean") {
    throw new PageError("swizzle_inner is True or False", tree.column);
  }
  return withSwizzle(tile, {per_element: p, swizzle_len: b, atom_len: a, swizzle_inner});
}

/** The layout with another swizzle, or with none (null). */
export function withSwizzle(layout, swizzle) {
  const triples = (iters) => iters.map((iter) => [iter.extent, iter.stride, iter.axis]);
  return makeLayout(triples(layout.shard), triples(layout.replica), layout.offsets, swizzle);
}

// -- CuTe ---------------------------------------------------------------------------------------
/** shape:stride, the first mode fastest, as a layout whose iters are the modes in reverse. */
export function readCute(text) {
  const parts = text.split(/\so\s/);
  let swizzle = null;
  let offset = 0;
  if (parts.length === 3) {
    const found = /^\s*Sw\s*<\s*(-?\d+)\s*,\s*(-?\d+)\s*,\s*(-?\d+)\s*>\s*$/.exec(parts[0]);
    if (!found) throw new PageError("before 'o offset o layout' stands a swizzle, Sw<3,4,3>", 0);
    const [bits, base, shift] = found.slice(1).map(exact);
    if (bits > 0) {
      swizzle = {
        per_element: base,
        swizzle_len: bits,
        atom_len: Math.abs(shift),
        swizzle_inner: shift >= 0,
      };
    }
    offset = leavesOf(parts[1])[0];
  } else if (parts.length !== 1) {
    throw new PageError("a CuTe text is shape:stride or Sw<B,M,S> o offset o shape:stride", 0);
  }
  const sides = parts.at(-1).split(":");
  if (sides.length !== 2) throw new PageError("a CuTe layout is shape:stride, with one ':'", 0);
  if (nesting(sides[0]) !== nesting(sides[1])) {
    throw new PageError(`shape and stride are nested alike; got ${sides[0]} and ${sides[1]}`, 0);
  }
  const [extents, strides] = sides.map(leavesOf);
  const iters = extents.map((extent, k) => [extent, strides[k], "m"]).reverse();
  return makeLayout(iters, [], offset === 0 ? {} : {m: offset}, swizzle);
}

/** A nest of numbers without the numbers: "((),)". */
function nesting(text) {
  return text.replace(/[-_\d\s]+/g, "").replaceAll(",)", ")");
}

function leavesOf(text) {
  const collect = (value) =>
    value.kind === "tuple" ? value.parts.flatMap(collect) : [value.value];
  const tree = readTree(text.replace(/_(?=\d)/g, " "));
  return collect(layoutValue(tree, new Set())).map(exact);
}

// -- shapes -------------------------------------------------------------------------------------
/** 8x16, (8, 16), 8,16 or 128; empty: the layout's own extents. */
export function readShape(text, layout) {
  const plain = text.trim().replace(/^[([]|[)\]]$/g, "");
  if (!plain) return layout.extents.length ? layout.extents : [1];
  const shape = plain
    .split(/[x×X,]/)
    .filter((part) => part.trim())
    .map((part) => (/^\s*\d+\s*$/.test(part) ? exact(part.trim()) : NaN));
  if (!shape.length || shape.some((size) => !(size >= 1))) {
    throw new PageError(`a shape is 8x16 or 8,16; got ${text}`);
  }
  const count = shape.reduce((total, size) => total * BigInt(size), 1n);
  if (count > BigInt(layout.size)) {
    throw new PageError(
      `shape ${shape.join(" x ")} has ${count} elements, more than the ${layout.size} of ` +
        layoutText(layout),
    );
  }
  return shape;
}
