// Views of storage in its true widths: lines of shared memory by banks, cells of TMEM, and the
// lanes of one access by banks.  An element takes the bits that its type has: two of 4 bits share a
// byte, one of 128 bits lies in four banks.
import {addressOn, elementsAt, placeRange} from "./layouts.js";
import {PageError, digitsOf, modulo} from "./numbers.js";
import {TINTS, elementName, tintOf} from "./views.js";

/** Bits of a TMEM column (PTX ISA, tcgen05: Tensor Memory addressing). */
const COLUMN_BITS = 32;

/**
 * The pieces of one box of bits [from, to) on a line of places: what of which element is in it.
 * @param placeAt number of an element's place -> place; @returns cell
 */
function bitsCell(subject, placeAt, from, to, options) {
  const {elementBits} = subject;
  const pieces = [];
  const flats = [];
  let complete = true;
  for (let at = Math.floor(from / elementBits); at * elementBits < to; at += 1) {
    const place = placeAt(at);
    const found = elementsAt(subject.layout, place, subject.count);
    complete = complete && found.complete;
    flats.push(...found.flats);
    const begins = at * elementBits;
    const starts = begins >= from;
    pieces.push({
      from: Math.max(0, (begins - from) / (to - from)),
      to: Math.min(1, (begins + elementBits - from) / (to - from)),
      tint: found.flats.length ? tintOf(subject, place, options.colour) : -1,
      crowded: found.flats.length > 1,
      text: starts && found.flats.length ? digitsOf(found.flats[0], subject.shape).join(",") : "",
      starts,
      flats: found.flats,
    });
  }
  const names = flats.slice(0, 8).map((flat) => elementName(flat, subject.shape));
  return {text: "", tint: -1, pieces, flats, complete, held: names.join(", ") || "empty"};
}

/** What part of a box of bits an element takes: [from, to], between 0 and 1. */
function partOf(bit, bits, box, boxBits) {
  return [Math.max(0, (bit - box) / boxBits), Math.min(1, (bit + bits - box) / boxBits)];
}

/** Line x bank: every row is one word of every bank. */
export function banksView(subject, target, base, options) {
  const {layout, elementBits} = subject;
  const others = subject.axes.filter((axis) => axis !== "m");
  if (others.length)
    throw new PageError(`banks are of axis m alone; also here: ${others.join(", ")}`);
  const wordBits = 8 * target.bank_bytes;
  const lineBits = wordBits * target.banks;
  const shift = 8 * base;
  const [low, high] = placeRange(layout, "m");
  const first = Math.floor((low * elementBits + shift) / lineBits);
  const last = Math.floor(((high + 1) * elementBits - 1 + shift) / lineBits);
  const cellAt = (r, c) => {
    const from = (first + r) * lineBits + c * wordBits - shift;
    const cell = bitsCell(subject, (m) => ({m}), from, from + wordBits, options);
    return {...cell, label: `line ${first + r}, bank ${c}: ${cell.held}`};
  };
  const made = new Map();
  return {
    name: "banks",
    title:
      `Lines of ${target.banks} banks of ${target.bank_bytes} bytes, ` +
      `${elementBits}-bit elements`,
    rows: last - first + 1,
    cols: target.banks,
    rowTitle: "line",
    columnTitle: "bank",
    wide: Math.max(1, wordBits / elementBits),
    rowLabel: (r) => `${first + r}`,
    columnLabel: (c) => `${c}`,
    cell: (r, c) => {
      const key = r * target.banks + c;
      if (!made.has(key)) made.set(key, cellAt(r, c));
      return made.get(key);
    },
    cellsOf: (flat) => {
      const from = addressOn(layout, flat) * elementBits + shift;
      const cells = [];
      for (
        let word = Math.floor(from / wordBits);
        word * wordBits < from + elementBits;
        word += 1
      ) {
        const part = partOf(from, elementBits, word * wordBits, wordBits);
        cells.push([
          Math.floor(word / target.banks) - first,
          modulo(word, target.banks),
          0,
          ...part,
        ]);
      }
      return cells;
    },
  };
}

/** TMEM: lanes down, 32-bit columns across; a TCol of the layout counts elements. */
export function tmemView(subject, options) {
  const {layout, elementBits} = subject;
  if (!subject.axes.includes("TLane") || !subject.axes.includes("TCol")) {
    throw new PageError("TMEM has the axes TLane and TCol; this layout is on others");
  }
  if (![8, 16, 32].includes(elementBits)) {
    throw new PageError(`TMEM holds elements of 8, 16 or 32 bits; these have ${elementBits}`);
  }
  const [laneLow, laneHigh] = placeRange(layout, "TLane");
  const [low, high] = placeRange(layout, "TCol");
  const column = (tcol) => Math.floor((tcol * elementBits) / COLUMN_BITS);
  const first = column(low);
  const made = new Map();
  const cols = column(high) - first + 1;
  const cellAt = (r, c) => {
    const from = (first + c) * COLUMN_BITS;
    const placeAt = (TCol) => ({...options.fixed, TLane: laneLow + r, TCol});
    const cell = bitsCell(subject, placeAt, from, from + COLUMN_BITS, options);
    return {...cell, label: `lane ${laneLow + r}, column ${first + c}: ${cell.held}`};
  };
  return {
    name: "tmem",
    title: "Tensor Memory: lanes and 32-bit columns",
    rows: laneHigh - laneLow + 1,
    cols,
    rowTitle: "TLane",
    columnTitle: "column",
    wide: COLUMN_BITS / elementBits,
    rowLabel: (r) => `${laneLow + r}`,
    columnLabel: (c) => `${first + c}`,
    cell: (r, c) => {
      const key = r * cols + c;
      if (!made.has(key)) made.set(key, cellAt(r, c));
      return made.get(key);
    },
    cellsOf: (flat) =>
      subject.places(flat).map((place, copy) => {
        const bit = place.TCol * elementBits;
        const part = partOf(bit, elementBits, column(place.TCol) * COLUMN_BITS, COLUMN_BITS);
        return [place.TLane - laneLow, column(place.TCol) - first, copy, ...part];
      }),
  };
}

/** Lane x bank of one access: a cell has the words that the lane wants from the bank. */
export function accessView(access, service, target, shape) {
  const phaseOf = new Map();
  service.phases.forEach((phase, k) => phase.lanes.forEach((lane) => phaseOf.set(lane, k)));
  const lanes = access.lanes.map(({lane}) => lane);
  const wordsOf = (lane, bank) => {
    const wanted = service.phases[phaseOf.get(lane)].words.get(bank) ?? new Map();
    return [...wanted].filter(([, found]) => found.includes(lane)).map(([word]) => word);
  };
  return {
    name: "access",
    title: "The access: lanes and the banks that they want",
    rows: lanes.length,
    cols: target.banks,
    rowTitle: "lane",
    columnTitle: "bank",
    rowLabel: (r) => `${lanes[r]}`,
    columnLabel: (c) => `${c}`,
    cell: (r, c) => {
      const words = wordsOf(lanes[r], c);
      const phase = service.phases[phaseOf.get(lanes[r])];
      const count = phase.words.get(c)?.size ?? 0;
      const conflict = words.length > 0 && count > 1;
      return {
        text: words.length ? `${words[0]}` : "",
        tint: words.length ? phaseOf.get(lanes[r]) % TINTS : -1,
        crowded: conflict,
        flats: words.length ? access.lanes[r].flats : [],
        complete: true,
        label: words.length
          ? `lane ${lanes[r]} ${elementName(access.lanes[r].flats[0], shape)} wants word ` +
            `${words.join(", ")} of bank ${c}; ${count} words wanted there in its phase`
          : `lane ${lanes[r]}: nothing of bank ${c}`,
      };
    },
    cellsOf: () => [],
  };
}
