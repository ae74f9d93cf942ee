// What the page's module answers to a list of questions: node answers.mjs MODULE QUESTIONS
//
// QUESTIONS is a JSON file, a list of {ask, ...}; the answers are printed as JSON, one for each.
// What is refused is answered by {refused: message}.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [, , module, questions] = process.argv;
const page = await import(pathToFileURL(module));

const ANSWERS = {
  /** Every element's places, and the elements of those places. */
  places({layout, axes, lookups}) {
    const made = page.readLayout(layout, axes);
    const table = [];
    for (let flat = 0; flat < made.size; flat += 1) {
      table.push([...new Set(page.placesOf(made, flat).map(page.placeKey))]);
    }
    const found = lookups.map((place) => page.elementsAt(made, place));
    const ranges = Object.fromEntries(made.axes.map((axis) => [axis, page.placeRange(made, axis)]));
    return {text: page.layoutText(made), cute: page.cuteText(made), table, found, ranges};
  },
  element({layout, axes, flat}) {
    const made = page.readLayout(layout, axes);
    const place = page.placeOf(made, flat);
    return {place, found: page.elementsAt(made, place)};
  },
  text({text, axes}) {
    return page.layoutText(page.readLayout(text, axes));
  },
  shape({text, layout}) {
    return page.readShape(text, page.readLayout(layout, ["m"]));
  },
  steps({layout, shape, flat, axes}) {
    return page.stepsOf(page.readLayout(layout, axes), shape, flat, 0);
  },
  service({layout, shape, bits, pick, position, target, base}) {
    const made = page.readLayout(layout, ["m"]);
    const access = page.accessAt(pick, made, shape, bits, position);
    const service = page.served(access, target, base);
    const phases = service.phases.map(({lanes, words}) => ({
      lanes,
      words: [...words].map(([bank, wanted]) => [bank, [...wanted]]),
    }));
    const {degree, wavefronts, least} = service;
    const shown = page.wavefrontsOf(service);
    const problem = page.vectorProblem(access, made, base);
    return {degree, wavefronts, least, phases, shown, free: access.free, problem};
  },
  formula({text}) {
    const where = page.laneFormula(text, 1);
    return Array.from({length: 32}, (_, lane) => where(lane)[0]);
  },
  compose({outer, inner, axes}) {
    const [a, b] = [outer, inner].map((text) => page.readLayout(text, axes));
    return page.composeTable(a, b);
  },
  inverse({layout, axes}) {
    return page.inverseTable(page.readLayout(layout, axes));
  },
  compare({layouts, axes}) {
    return page.compare(...layouts.map((text) => page.readLayout(text, axes)));
  },
  collision({layout, axes}) {
    const made = page.readLayout(layout, axes);
    return page.collision(made, made.size);
  },
  /** The elements of every cell of a view, and the cells of every element. */
  view({layout, axes, shape, bits, view, target, base}) {
    const names = axes.map((axis) => axis.name);
    const subject = page.subjectOf(page.readLayout(layout, names), shape, bits, axes);
    const options = {colour: "owner", fixed: {}};
    const made = {
      banks: () => page.banksView(subject, target, base, options),
      tmem: () => page.tmemView(subject, options),
      owner: () => page.ownerView(subject, options),
      wrapped: () => page.wrappedView(subject, {...options, axis: "m", width: 5}),
    }[view]();
    const cells = [];
    for (let r = 0; r < made.rows; r += 1) {
      for (let c = 0; c < made.cols; c += 1) {
        const {flats, pieces} = made.cell(r, c);
        const wide = (pieces ?? []).map(({from, to}) => [from, to]);
        cells.push([made.rowLabel(r), made.columnLabel(c), flats, wide]);
      }
    }
    const where = [];
    for (let flat = 0; flat < subject.count; flat += 1) {
      where.push(made.cellsOf(flat).map(([r, c]) => [made.rowLabel(r), made.columnLabel(c)]));
    }
    return {cells, where};
  },
  address({state}) {
    return page.stateOf(page.addressOf({...page.DEFAULTS, ...state}));
  },
};

const answers = JSON.parse(readFileSync(questions, "utf8")).map((question) => {
  try {
    return ANSWERS[question.ask](question) ?? null;
  } catch (error) {
    if (!(error instanceof page.PageError)) throw error;
    return {refused: error.message, column: error.column};
  }
});
process.stdout.write(JSON.stringify(answers));
