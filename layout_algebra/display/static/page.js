// The page: its state, what follows from it, and the panels that show it.
//
//   new App(element, data, host)      // data: what Python wrote; host: how Python is asked, or {}
import {AccessPanel} from "./accesses.js";
import {cellStyle} from "./colours.js";
import {OperationPanel} from "./comparing.js";
import {DetailPanel} from "./details.js";
import {make} from "./dom.js";
import {Editor} from "./editor.js";
import {elementsAt, layoutText} from "./layouts.js";
import {accessAt, served, wavefrontsOf} from "./memory.js";
import {PageError} from "./numbers.js";
import {LogicalPanel, PhysicalPanel} from "./panels.js";
import {readLayout, readShape} from "./reading.js";
import {ExportPanel} from "./saving.js";
import {DEFAULTS, addressOf, stateOf} from "./state.js";
import {VerdictPanel} from "./verdicts.js";
import {subjectOf} from "./views.js";

/** Milliseconds of quiet before Python is asked. */
const PROOF_QUIET = 300;

export class App {
  constructor(root, data, host = {}) {
    this.data = data;
    this.host = host;
    this.axisNames = data.axes.map((axis) => axis.name);
    this.verdicts = [...data.verdicts];
    this.witness = null;
    this.defaults = {
      ...DEFAULTS,
      layout: data.layout,
      shape: data.shape.join("x"),
      dtype: data.dtype,
      access: data.access ?? "",
      bytes: data.bytes ?? 0,
    };
    this.state = stateOf(host.address?.() ?? "", this.defaults);
    this.build(root);
    this.compute();
    this.refresh();
  }

  build(root) {
    if (!root.closest(".la-page")) root.classList.add("la-page");
    const parts = [
      "la-top",
      "la-verdict",
      "la-two",
      "la-detail",
      "la-access",
      "la-other",
      "la-export",
    ];
    const [top, verdict, two, detail, access, other, saved] = parts.map((name) =>
      make("div", {class: name}),
    );
    this.live = make("div", {class: "la-hidden", role: "status", "aria-live": "polite"});
    root.replaceChildren(top, verdict, two, legend(), detail, access, other, saved, this.live);
    this.panels = {
      editor: new Editor(this, top),
      verdicts: new VerdictPanel(this, verdict),
      logical: new LogicalPanel(this, two),
      physical: new PhysicalPanel(this, two),
      details: new DetailPanel(this, detail),
      accesses: new AccessPanel(this, access),
      operations: new OperationPanel(this, other),
      exports: new ExportPanel(this, saved),
    };
  }

  // -- changes ----------------------------------------------------------------------------------
  /** Changes of what is shown. */
  update(changes) {
    Object.assign(this.state, changes);
    this.compute();
    this.refresh();
  }

  /** Changes of the layout itself: what was chosen before may be no more. */
  edit(changes) {
    this.witness = null;
    const shape =
      changes.layout !== undefined && changes.shape === undefined
        ? this.keptShape(changes.layout)
        : {};
    this.update({
      ...shape,
      ...changes,
      element: -1,
      copy: 0,
      position: 0,
      wavefront: 0,
      fixed: "",
      physicalFixed: "",
    });
    this.askProofsSoon();
  }

  /** The shape stays while the new layout has as many elements; else it is the layout's own. */
  keptShape(text) {
    try {
      const layout = readLayout(text, this.axisNames);
      return layout.size === this.subject?.layout.size ? {} : {shape: ""};
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      return {};
    }
  }

  select(flats) {
    if (!flats.length) {
      this.announce("empty");
      return;
    }
    const at = flats.indexOf(this.state.element);
    const element = flats[(at + 1) % flats.length];
    this.update({element, copy: 0});
    this.announce(`element ${element} chosen, ${this.subject.places(element).length} places`);
  }

  showWitness(flats, text) {
    this.witness = {flats, text, layout: layoutText(this.subject.layout)};
    this.refresh();
    if (flats.length) {
      this.panels.logical.reveal(flats[0]);
      this.panels.physical.reveal(flats[0]);
    }
    this.announce(text);
  }

  showEnumeration(parts) {
    this.panels.verdicts.list.firstChild.replaceChildren(...parts);
  }

  announce(text) {
    this.live.textContent = text;
  }

  complain(error) {
    if (!(error instanceof PageError)) throw error;
    this.error = error;
    this.panels.editor.refresh();
  }

  // -- what follows from the state --------------------------------------------------------------
  /** Reads the texts; where they cannot be read, the last layout stays drawn. */
  compute() {
    const {state, data} = this;
    this.error = null;
    try {
      const layout = readLayout(state.layout, this.axisNames);
      const shape = readShape(state.shape, layout);
      const found = data.dtypes.find(([name]) => name === state.dtype);
      this.elementBits = found ? found[1] : 16;
      if (!found) state.dtype = data.dtypes.find(([, bits]) => bits === 16)[0];
      this.subject =
        this.sameSubject(layout, shape) ?? subjectOf(layout, shape, this.elementBits, data.axes);
      if (state.element >= this.subject.count) state.element = -1;
      for (const name of ["copy", "base", "wavefront"]) state[name] = Math.max(0, state[name]);
      this.access = state.access ? this.computeAccess() : null;
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      this.error = error;
    }
  }

  /** The subject that is there, if nothing about it changed: its caches are kept. */
  sameSubject(layout, shape) {
    const key = JSON.stringify([layoutText(layout), shape, this.elementBits]);
    if (this.subjectKey === key) return this.subject;
    this.subjectKey = key;
    return null;
  }

  get target() {
    return this.data.targets[this.state.target] ?? this.data.targets[0];
  }

  bytes() {
    if (this.state.bytes > 0) return this.state.bytes;
    const bits = this.elementBits ?? 16;
    return (8 * 16) % bits === 0
      ? 16
      : bits / 8 >= 1 && Number.isInteger(bits / 8)
        ? bits / 8
        : bits;
  }

  pick() {
    return {pick: this.state.access, bytes: this.bytes(), kind: this.state.kind};
  }

  computeAccess() {
    const {state, subject} = this;
    try {
      const pick = this.pick();
      const access = accessAt(
        pick,
        subject.layout,
        subject.shape,
        this.elementBits,
        state.position,
      );
      const service = served(access, this.target, state.base);
      const wavefronts = wavefrontsOf(service);
      if (state.wavefront > wavefronts.length) state.wavefront = 0;
      return {...access, service, wavefronts};
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      return {error: error.message};
    }
  }

  /** What the Python export says of the access; null without one. */
  pickForPython() {
    if (!this.access?.service) return null;
    const {lanes, free, count} = this.access;
    const bytes = this.bytes();
    const align = Number.isInteger(Math.log2(bytes)) ? bytes : 1;
    return {...this.pick(), lanes: lanes.length, free, count, align};
  }

  drawnDimensions() {
    const rank = this.subject.shape.length;
    const {rowAxis, columnAxis} = this.state;
    if (rank === 1) return {row: -1, column: 0};
    const row = rowAxis < rank ? Math.max(-1, rowAxis) : 0;
    const column = columnAxis < rank ? Math.max(-1, columnAxis) : rank - 1;
    return row === column ? {row: -1, column} : {row, column};
  }

  viewName() {
    const {view} = this.state;
    if (view) return view;
    const {subject} = this;
    if (subject.axes.includes("TLane") && subject.axes.includes("TCol")) {
      return [8, 16, 32].includes(this.elementBits) ? "tmem" : "places";
    }
    if (subject.axes.some((axis) => subject.kindOf(axis) !== "memory")) return "owner";
    return subject.axes.length === 1 && subject.axes[0] === "m" ? "banks" : "places";
  }

  selectedHighlights(below) {
    const {element, copy} = this.state;
    return element >= 0 && element < below ? [{flat: element, mark: "selected", copy}] : [];
  }

  /** The marked elements of both grids, the strongest mark last. */
  highlights() {
    const {subject, state, access} = this;
    const found = [];
    if (access?.service) {
      const wavefront = access.wavefronts[state.wavefront - 1];
      const lanes = new Set(wavefront?.words.flatMap((word) => word.lanes) ?? []);
      for (const {lane, flats} of access.lanes) {
        for (const flat of flats) found.push({flat, mark: lanes.has(lane) ? "served" : "access"});
      }
    }
    if (this.witness?.layout === layoutText(subject.layout)) {
      found.push(...this.witness.flats.map((flat) => ({flat, mark: "witness"})));
    }
    if (state.element >= 0) {
      for (const place of subject.places(state.element).slice(0, 64)) {
        const {flats} = elementsAt(subject.layout, place, subject.count);
        for (const flat of flats) if (flat !== state.element) found.push({flat, mark: "shares"});
      }
    }
    return [...found, ...this.selectedHighlights(subject.count)];
  }

  // -- verdicts ---------------------------------------------------------------------------------
  presetOf(text) {
    const entries = Object.values(this.data.presets.families).flat().reverse();
    this.byText ??= new Map(entries.map((entry) => [entry.layout, entry]));
    return this.byText.get(text);
  }

  /** The verdicts that speak of the layout, the shape and the type that are shown. */
  currentVerdicts() {
    if (!this.subject) return [];
    const text = layoutText(this.subject.layout);
    const shape = this.subject.shape.join("x");
    const fitting = this.verdicts.filter(
      (record) =>
        record.layout === text &&
        (!record.access || (record.shape.join("x") === shape && record.bits === this.elementBits)),
    );
    const preset = this.presetOf(text);
    if (preset?.verdict && !fitting.some((record) => record.name === "Injective")) {
      const [verdict, method, seconds] = preset.verdict;
      fitting.unshift({
        name: "Injective",
        claim: `Injective(${text})`,
        verdict,
        method,
        seconds,
        queries: [],
      });
    }
    return fitting;
  }

  askProofsSoon() {
    if (!this.host.prove || this.error) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.askProofs(), PROOF_QUIET);
  }

  async askProofs() {
    const {subject, state} = this;
    const layout = layoutText(subject.layout);
    const request = {layout, shape: subject.shape, dtype: state.dtype};
    if (this.access?.service) request.access = this.pick();
    const reply = await this.host.prove(request);
    if (reply.error) this.announce(reply.error);
    const fresh = reply.verdicts ?? [];
    const kept = this.verdicts.filter((old) => !fresh.some((now) => sameClaim(now, old)));
    this.verdicts = [...fresh, ...kept].slice(0, 200);
    this.panels.verdicts.refresh();
  }

  refresh() {
    for (const panel of Object.values(this.panels)) panel.refresh();
    this.host.remember?.(addressOf(this.state, this.defaults), {...this.state});
  }
}

/** What the marks mean. */
function legend() {
  const meanings = {
    selected: "chosen",
    copy: "another copy of it",
    shares: "lies at the same place",
    witness: "witness",
    access: "touched by the access",
    served: "served by the wavefront",
  };
  const items = Object.entries(meanings).map(([mark, text]) => {
    const {colour, width, dash} = cellStyle(mark);
    const border = `border: ${width}px ${dash.length ? "dashed" : "solid"} ${colour}`;
    return make("li", {}, make("span", {class: "la-sample", style: border}), text);
  });
  return make("ul", {class: "la-legend", "aria-label": "Marks of cells"}, ...items);
}

function sameClaim(a, b) {
  return (
    a.claim === b.claim &&
    a.layout === b.layout &&
    `${a.shape}` === `${b.shape}` &&
    a.bits === b.bits
  );
}
