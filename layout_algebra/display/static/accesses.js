// One access of a warp to shared memory: lanes by banks, wavefronts one by one, a bar a bank.
import {choice, labelled, make, numberField, section, textField} from "./dom.js";
import {vectorProblem} from "./memory.js";
import {spans} from "./numbers.js";
import {Grid} from "./painting.js";
import {accessView} from "./storage.js";

/** Accesses that have a name: what is picked, and bytes of a lane (0: as chosen). */
const NAMED = [
  ["", "none"],
  ["column", "column: lane i reads row i"],
  ["row", "row: lanes side by side"],
  ["lane % 16, lane // 16 * 8", "ldmatrix x4 of 16-bit elements"],
  ["custom", "a formula of lane"],
];

export class AccessPanel {
  constructor(app, parent) {
    this.app = app;
    this.pick = choice("Access", (pick) => this.choose(pick));
    this.formula = textField(
      "Coordinates of each lane",
      (access) => app.update({access, wavefront: 0}),
      {placeholder: "lane % 8, lane // 8 * 8", "data-name": "formula"},
    );
    const changed = (name) => (value) => app.update({[name]: Math.max(0, value), wavefront: 0});
    this.bytes = numberField("Bytes a lane", changed("bytes"), {min: 1, "data-name": "bytes"});
    this.kind = choice("Kind", (kind) => app.update({kind}));
    this.target = choice("Memory", (target) => app.update({target: Number(target), wavefront: 0}));
    this.base = numberField("Buffer begins at byte", changed("base"), {min: 0});
    this.position = numberField("Position", (value) => this.move(value), {min: 0});
    const rows = [
      [this.pick, this.formula],
      [this.bytes, this.kind, this.target, this.base, this.position],
    ];
    this.summary = make("p", {"data-name": "service", class: "la-service"});
    this.problem = make("p", {class: "la-note"});
    this.stepper = this.buildStepper();
    this.bars = make("div", {class: "la-bars"});
    this.gridBox = make("div", {});
    const box = section(
      "Shared memory: one access of a warp",
      ...rows.map((row) => make("div", {class: "la-row"}, ...row.map((one) => one.element))),
      this.summary,
      this.problem,
      this.stepper,
      this.bars,
      this.gridBox,
    );
    parent.append(box);
    this.grid = new Grid(this.gridBox, {
      label: "Lanes and banks of the access",
      onPick: (cell) => app.select(cell.flats),
    });
  }

  choose(pick) {
    const access = pick === "custom" ? "lane % 8, lane // 8" : pick;
    const bytes = pick.startsWith("lane %") ? 16 : this.app.state.bytes;
    this.app.update({access, bytes, position: 0, wavefront: 0});
  }

  /** Moves to a position that the access can have: a multiple, inside the tile. */
  move(value) {
    const {free} = this.app.access ?? {};
    if (!free) return;
    const kept = Math.max(
      0,
      Math.min(free.most, Math.floor(value / free.multiple) * free.multiple),
    );
    this.app.update({position: kept, wavefront: 0});
  }

  buildStepper() {
    const step = (by) => () => {
      const count = this.app.access?.wavefronts.length ?? 0;
      const next = Math.max(0, Math.min(count, this.app.state.wavefront + by));
      this.app.update({wavefront: next});
      this.app.announce(this.wavefrontText());
    };
    this.range = make("input", {type: "range", min: 0, value: 0});
    this.range.addEventListener("input", () =>
      this.app.update({wavefront: Number(this.range.value)}),
    );
    this.shown = make("output", {"data-name": "wavefront"});
    return make(
      "div",
      {class: "la-row", role: "group", "aria-label": "Wavefronts"},
      make(
        "button",
        {type: "button", "data-name": "previous", onclick: step(-1)},
        "Previous wavefront",
      ),
      make("button", {type: "button", "data-name": "next", onclick: step(1)}, "Next wavefront"),
      labelled("Wavefront (0: all)", this.range),
      this.shown,
    );
  }

  refresh() {
    const {app} = this;
    const {state, data, access} = app;
    const named = NAMED.map(([value]) => value);
    const custom = !named.includes(state.access);
    this.pick.setOptions(NAMED, custom ? "custom" : state.access);
    this.formula.element.hidden = !custom;
    this.formula.input.value = state.access;
    this.bytes.input.value = app.bytes();
    this.kind.setOptions(
      [
        ["read", "read"],
        ["write", "write"],
      ],
      state.kind,
    );
    this.target.setOptions(
      data.targets.map((one, k) => [k, one.name]),
      state.target,
    );
    this.base.input.value = state.base;
    this.refreshPosition(access);
    const shown = Boolean(access?.service);
    for (const part of [this.stepper, this.bars, this.gridBox]) part.hidden = !shown;
    this.summary.textContent = access?.error ?? "";
    this.problem.textContent = "";
    if (shown) this.refreshService(access);
  }

  refreshPosition(access) {
    const {free} = access ?? {};
    this.position.element.hidden = !free;
    if (!free) return;
    this.position.element.firstChild.textContent = `Any ${free.name}, here`;
    this.position.input.step = free.multiple;
    this.position.input.max = free.most;
    this.position.input.value = this.app.state.position;
  }

  refreshService(access) {
    const {service} = access;
    const free = service.degree <= 1 ? " (no conflict)" : "";
    const {app} = this;
    this.summary.textContent =
      `Degree ${service.degree}${free}: ${service.wavefronts} wavefronts, at least ` +
      `${service.least} for these words, in ${service.phases.length} phase` +
      (service.phases.length === 1 ? "" : "s");
    const problem = vectorProblem(access, app.subject.layout, app.state.base);
    this.problem.textContent = problem ? `No single vector access: ${problem}` : "";
    this.range.max = access.wavefronts.length;
    this.range.value = app.state.wavefront;
    this.shown.textContent = this.wavefrontText();
    this.drawBars(access);
    this.view = accessView(access, service, app.target, app.subject.shape);
    this.marks = this.marksOf(access);
    this.grid.show(this.view, this.marks);
  }

  wavefrontText() {
    const {access, state} = this.app;
    const wavefront = access?.wavefronts[state.wavefront - 1];
    if (!wavefront) return "all wavefronts";
    const lanes = [...new Set(wavefront.words.flatMap((word) => word.lanes))].sort((a, b) => a - b);
    return (
      `wavefront ${state.wavefront} of ${access.wavefronts.length}: phase ${wavefront.phase}, ` +
      `${wavefront.words.length} words to lanes ${spans(lanes)}`
    );
  }

  /** The cells that the shown wavefront serves. */
  marksOf(access) {
    const marks = new Map();
    const wavefront = access.wavefronts[this.app.state.wavefront - 1];
    if (!wavefront) return marks;
    const rowOf = new Map(access.lanes.map(({lane}, r) => [lane, r]));
    for (const {bank, lanes} of wavefront.words) {
      for (const lane of lanes) {
        marks.set(`${rowOf.get(lane)},${bank}`, [{mark: "served", from: 0, to: 1}]);
      }
    }
    return marks;
  }

  /** How many words every bank gives, in the phase that is shown, as a small picture and a text. */
  drawBars(access) {
    const {app} = this;
    const wavefront = access.wavefronts[app.state.wavefront - 1];
    const phase = access.service.phases[wavefront?.phase ?? 0];
    const {banks} = app.target;
    const counts = Array.from({length: banks}, (_, bank) => phase.words.get(bank)?.size ?? 0);
    const most = Math.max(1, ...counts);
    const bars = counts.map((count, bank) => {
      const height = (40 * count) / most;
      const fill = count > 1 ? "#b00020" : "#0b4fa8";
      const at = `x="${bank * 14 + 2}" y="${44 - height}"`;
      return `<rect ${at} width="11" height="${height}" fill="${fill}"/>`;
    });
    const worst = counts.flatMap((count, bank) => (count === most ? [bank] : []));
    const text =
      `phase ${wavefront?.phase ?? 0} (lanes ${spans(phase.lanes)}): most words from one bank ` +
      `${most}, banks ${spans(worst)}`;
    const width = banks * 14 + 4;
    this.bars.innerHTML =
      `<svg viewBox="0 0 ${width} 46" width="${width}" height="46" role="img" ` +
      `aria-label="Words of each bank: ${text}">` +
      `<line x1="0" y1="44.5" x2="${width}" y2="44.5" stroke="#555"/>${bars.join("")}</svg>` +
      `<span data-name="bars">${text}</span>`;
  }
}
