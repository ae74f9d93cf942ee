// Shared memory: which lanes an access has, what it touches, and the wavefronts that serve it.
//
//   const access = accessAt({pick: "column", bytes: 16}, layout, [128, 64], 16, [0]);
//   served(access, target, 0).degree
//
// The meaning is that of the Python library's memory/banks.py; targets come from Python as data.
import {addressOn} from "./layouts.js";
import {PageError, exact, floorDiv, modulo, numberOf} from "./numbers.js";
import {readTree} from "./tokens.js";

const WARP = 32;

// -- formulas of the lane -----------------------------------------------------------------------
const OPERATIONS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "//": floorDiv,
  "%": modulo,
  "^": (a, b) => bits(a, b, (x, y) => x ^ y),
  "&": (a, b) => bits(a, b, (x, y) => x & y),
  "|": (a, b) => bits(a, b, (x, y) => x | y),
  "<<": (a, b) => a * 2 ** b,
  ">>": (a, b) => Math.floor(a / 2 ** b),
};

function bits(a, b, operation) {
  return Number(operation(BigInt(a), BigInt(b)));
}

/** `lane % 16, lane // 16 * 8` as a function of the lane, one coordinate for each dimension. */
export function laneFormula(text, rank) {
  const tree = readTree(text);
  const parts = tree.kind === "tuple" && !tree.bracketed ? tree.parts : [tree];
  if (parts.length !== rank) {
    throw new PageError(`${parts.length} coordinates for a shape of ${rank} dimensions`);
  }
  const value = (node, lane) => {
    if (node.kind === "number") return exact(node.text.replaceAll("_", ""));
    if (node.kind === "name" && node.text === "lane") return lane;
    if (!(node.kind in OPERATIONS)) {
      throw new PageError("an access is arithmetic on lane and whole numbers", node.column);
    }
    const [a, b] = [value(node.left, lane), value(node.right, lane)];
    if ((node.kind === "//" || node.kind === "%") && b < 1) {
      throw new PageError(`${node.kind} by ${b}: a divisor is at least 1`, node.column);
    }
    if ((node.kind === "<<" || node.kind === ">>") && b < 0) {
      throw new PageError(`${node.kind} by ${b}: a shift is not negative`, node.column);
    }
    return exact(OPERATIONS[node.kind](a, b));
  };
  return (lane) => parts.map((part) => value(part, lane));
}

// -- accesses -----------------------------------------------------------------------------------
/** Where the free position of an access may stand: {name, multiple, most}, or null without one. */
export function freeOf(pick, shape, elementBits) {
  if (pick.pick !== "column" && pick.pick !== "row") return null;
  const [rows, columns] = rowsAndColumns(pick, shape);
  const count = countOf(pick, elementBits);
  if (count > columns) {
    throw new PageError(`${pick.bytes} bytes are ${count} elements, more than a row's ${columns}`);
  }
  if (pick.pick === "row") return {name: "row", multiple: 1, most: rows - 1};
  return {name: "column", multiple: count, most: Math.floor((columns - count) / count) * count};
}

function rowsAndColumns(pick, shape) {
  if (shape.length !== 2) {
    throw new PageError(`a ${pick.pick} is of two dimensions: give a shape like 128x64`);
  }
  return shape;
}

/** Whole elements that a lane moves; 1 where a lane moves no whole number of them. */
function countOf(pick, elementBits) {
  const moved = 8 * pick.bytes;
  return moved % elementBits === 0 ? moved / elementBits : 1;
}

/**
 * One access at one position: the coordinates, the flat index and the first bit of every lane.
 * @param pick {pick: "column" | "row" | a formula, bytes, kind}; @param position of the free one
 */
export function accessAt(pick, layout, shape, elementBits, position = 0) {
  checkMemory(layout);
  const moved = 8 * pick.bytes;
  if (!(moved >= 1) || moved % elementBits !== 0) {
    throw new PageError(`a lane moves whole elements of ${elementBits} bits; got ${moved} bits`);
  }
  const count = moved / elementBits;
  if (count > shape.at(-1)) {
    throw new PageError(`${pick.bytes} bytes are ${count} elements, more than a row has`);
  }
  const free = freeOf(pick, shape, elementBits);
  if (free && !(position >= 0 && position <= free.most && position % free.multiple === 0)) {
    throw new PageError(
      `the ${free.name} is a multiple of ${free.multiple}, up to ${free.most}; got ${position}`,
    );
  }
  const {where, lanes} = whereOf(pick, shape, count, position);
  const found = [];
  for (let lane = 0; lane < lanes; lane += 1) {
    const start = where(lane);
    const elements = Array.from({length: count}, (_, e) => [
      ...start.slice(0, -1),
      start.at(-1) + e,
    ]);
    for (const at of [elements[0], elements.at(-1)]) checkInside(at, shape, lane);
    const flats = elements.map((at) => numberOf(at, shape));
    found.push({lane, at: start, flats, bit: exact(addressOn(layout, flats[0]) * elementBits)});
  }
  return {lanes: found, bits: moved, elementBits, kind: pick.kind ?? "read", free, count};
}

function whereOf(pick, shape, count, position) {
  if (pick.pick === "column") {
    return {where: (lane) => [lane, position], lanes: Math.min(WARP, shape[0])};
  }
  if (pick.pick === "row") {
    const lanes = Math.min(WARP, Math.floor(shape[1] / count));
    return {where: (lane) => [position, lane * count], lanes};
  }
  return {where: laneFormula(pick.pick, shape.length), lanes: WARP};
}

function checkMemory(layout) {
  const others = layout.axes.filter((axis) => axis !== "m");
  if (others.length) {
    throw new PageError(
      `shared memory has the one axis m; the layout is on ${others.join(", ")} too`,
    );
  }
  if (layout.replica.length) throw new PageError("a buffer has one place for each element");
}

function checkInside(at, shape, lane) {
  at.forEach((value, d) => {
    if (value < 0 || value >= shape[d]) {
      throw new PageError(`lane ${lane} reaches (${at.join(", ")}), outside ${shape.join(" x ")}`);
    }
  });
}

/** What keeps one lane's move from being one aligned vector, in words; null where nothing does. */
export function vectorProblem(access, layout, base = 0) {
  const {bits: moved} = access;
  const aligned = moved % 8 === 0 && Number.isInteger(Math.log2(moved));
  for (const {lane, flats, bit} of access.lanes) {
    const first = addressOn(layout, flats[0]);
    const stray = flats.findIndex((flat, e) => addressOn(layout, flat) !== first + e);
    if (stray >= 0) return `element ${stray} of lane ${lane} does not follow the one before`;
    if (aligned && modulo(bit + 8 * base, moved) !== 0) {
      return `lane ${lane} begins at bit ${bit + 8 * base}, no multiple of ${moved}`;
    }
  }
  return null;
}

// -- service ------------------------------------------------------------------------------------
/** The groups of lanes that are served together when a lane moves so many bits. */
export function phasesOf(target, kind, moved) {
  const table = kind === "write" ? target.writes : target.reads;
  const size = Math.max(1, Math.ceil(moved / 8));
  const fits = (width) => (target.exact ? 8 * width === moved : size <= width);
  const fitting = table.filter(([width]) => fits(width)).sort((a, b) => a[0] - b[0]);
  if (target.exact && !fitting.length) {
    const widths = table.map(([width]) => width).join(", ") || "no";
    throw new PageError(
      `${target.name}: phases are known of ${widths} bytes a lane; got ${moved / 8}`,
    );
  }
  if (!fitting.length) {
    const most = Math.max(...table.map(([width]) => width));
    throw new PageError(`${target.name}: a lane moves at most ${most} bytes at once; got ${size}`);
  }
  return fitting[0][1];
}

/**
 * How an access is served: phases of {lanes, words, degree, distinct}, where words is
 * bank -> word -> lanes; and degree, wavefronts, least of all of them.
 */
export function served(access, target, base = 0) {
  if (access.lanes.length > target.lanes) {
    throw new PageError(`a warp of ${target.name} has ${target.lanes} lanes`);
  }
  const begins = new Map(access.lanes.map(({lane, bit}) => [lane, exact(8 * base + bit)]));
  const phases = [];
  for (const group of phasesOf(target, access.kind, access.bits)) {
    const lanes = group.filter((lane) => begins.has(lane));
    if (lanes.length) phases.push(phaseOf(lanes, begins, access.bits, target));
  }
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  return {
    phases,
    degree: Math.max(0, ...phases.map((phase) => phase.degree)),
    wavefronts: sum(phases.map((phase) => phase.degree)),
    least: sum(phases.map((phase) => Math.ceil(phase.distinct / target.banks))),
  };
}

function phaseOf(lanes, begins, moved, target) {
  const wordBits = 8 * target.bank_bytes;
  const words = new Map();
  for (const lane of lanes) {
    const first = begins.get(lane);
    const last = Math.floor((first + moved - 1) / wordBits);
    for (let word = Math.floor(first / wordBits); word <= last; word += 1) {
      const bank = modulo(word, target.banks);
      if (!words.has(bank)) words.set(bank, new Map());
      const wanted = words.get(bank);
      wanted.set(word, [...(wanted.get(word) ?? []), lane]);
    }
  }
  const counts = [...words.values()].map((wanted) => wanted.size);
  const distinct = counts.reduce((a, b) => a + b, 0);
  return {lanes, words, degree: Math.max(0, ...counts), distinct};
}

/**
 * The wavefronts of an access, one after another: {phase, number, words: [{bank, word, lanes}]}.
 * In wavefront n every bank gives the n-th of its words; hardware may take another order.
 */
export function wavefrontsOf(service) {
  const found = [];
  service.phases.forEach((phase, k) => {
    for (let number = 0; number < phase.degree; number += 1) {
      const words = [];
      for (const [bank, wanted] of phase.words) {
        const word = [...wanted.keys()].sort((a, b) => a - b)[number];
        if (word !== undefined) words.push({bank, word, lanes: wanted.get(word)});
      }
      words.sort((a, b) => a.bank - b.bank);
      found.push({phase: k, number, words});
    }
  });
  return found;
}

/** The bytes of an element's place: first bit, bits, and the words that it touches. */
export function footprint(place, elementBits, target) {
  const bit = exact(place * elementBits);
  const wordBits = 8 * target.bank_bytes;
  const last = Math.floor((bit + elementBits - 1) / wordBits);
  const words = [];
  for (let word = Math.floor(bit / wordBits); word <= last; word += 1) words.push(word);
  return {bit, bits: elementBits, words, banks: words.map((word) => modulo(word, target.banks))};
}
