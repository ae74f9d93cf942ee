// The two pictures side by side: the logical elements, and where they lie.
import {choice, make, numberField, section} from "./dom.js";
import {placeRange} from "./layouts.js";
import {PageError} from "./numbers.js";
import {Grid} from "./painting.js";
import {banksView, tmemView} from "./storage.js";
import {dimensionName, logicalView, ownerView, placesView, wrappedView} from "./views.js";

const VIEWS = {owner: "Owner", places: "Places", banks: "Line x bank", tmem: "TMEM"};

/** "a=1,b=2" as an object of numbers. */
export function readFixed(text) {
  const pairs = text.split(",").map((part) => part.split("="));
  return Object.fromEntries(
    pairs
      .filter(([name, value]) => name && Number.isFinite(Number(value)))
      .map(([n, v]) => [n, Number(v)]),
  );
}

function writeFixed(fixed) {
  return Object.entries(fixed)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

/** A view of a subject, made once for each key: its cells are then there when only marks change. */
function rememberedView(subject, key, make) {
  subject.views ??= new Map();
  if (!subject.views.has(key)) {
    if (subject.views.size > 8) subject.views.clear();
    subject.views.set(key, make());
  }
  return subject.views.get(key);
}

export class LogicalPanel {
  constructor(app, parent) {
    this.app = app;
    this.row = choice("Rows", (value) => app.update({rowAxis: Number(value)}));
    this.column = choice("Columns", (value) => app.update({columnAxis: Number(value)}));
    this.colour = choice("Colour by", (colour) => app.update({colour}));
    this.text = choice("Cells say", (cellText) => app.update({cellText}));
    this.zoom = choice("Size", (zoom) => app.update({zoom: Number(zoom)}));
    this.fixed = make("div", {class: "la-row"});
    const controls = [this.row, this.column, this.colour, this.text, this.zoom];
    const row = make("div", {class: "la-row"}, ...controls.map((one) => one.element));
    const box = section("Logical elements", row, this.fixed);
    parent.append(box);
    this.grid = new Grid(box, {
      label: "Logical elements",
      onPick: (cell) => app.select(cell.flats),
    });
  }

  refresh() {
    const {state, subject} = this.app;
    if (!subject) return;
    const rank = subject.shape.length;
    const dimensions = subject.shape.map((size, d) => [
      `${d}`,
      `${dimensionName(d, rank)} (${size})`,
    ]);
    const {row, column} = this.app.drawnDimensions();
    this.row.setOptions([["-1", "none"], ...dimensions], row);
    this.column.setOptions([["-1", "none"], ...dimensions], column);
    const colours = ["owner", "register", "bank", "none"].map((name) => [name, name]);
    this.colour.setOptions(colours, state.colour);
    this.text.setOptions(
      [
        ["place", "the place"],
        ["element", "the flat index"],
      ],
      state.cellText,
    );
    this.zoom.setOptions(
      [
        [0, "tiny"],
        [1, "small"],
        [2, "text"],
        [3, "large"],
      ],
      state.zoom,
    );
    this.refreshFixed(row, column);
    const given = readFixed(state.fixed);
    const fixed = subject.shape.map((size, d) => Math.max(0, Math.min(size - 1, given[d] ?? 0)));
    const options = {row, column, fixed, colour: state.colour, cellText: state.cellText};
    this.grid.zoom = state.zoom;
    const key = JSON.stringify(options);
    this.view = rememberedView(subject, key, () => logicalView(subject, options));
    this.marks = marksOf(this.view, this.app.highlights());
    this.grid.show(this.view, this.marks);
  }

  /** A number for every dimension that is not drawn. */
  refreshFixed(row, column) {
    const {app} = this;
    const {shape} = app.subject;
    const fixed = readFixed(app.state.fixed);
    const fields = shape.flatMap((size, d) => {
      if (d === row || d === column || size === 1) return [];
      const changed = (value) => {
        const kept = Math.max(0, Math.min(size - 1, value));
        app.update({fixed: writeFixed({...readFixed(app.state.fixed), [d]: kept})});
      };
      const name = dimensionName(d, shape.length);
      const field = numberField(`${name} =`, changed, {min: 0, max: size - 1});
      field.input.value = fixed[d] ?? 0;
      return [field.element];
    });
    this.fixed.replaceChildren(...fields);
  }

  reveal(flat) {
    const [cell] = this.view.cellsOf(flat);
    if (cell) this.grid.moveTo(cell[0], cell[1]);
  }
}

/** Marks of the highlighted elements in a view. @param highlights [{flat, mark, copy}] */
export function marksOf(view, highlights) {
  const marks = new Map();
  for (const {flat, mark, copy} of highlights) {
    for (const [r, c, number, from = 0, to = 1] of view.cellsOf(flat)) {
      const other = mark === "selected" && copy !== undefined && number !== copy;
      const key = `${r},${c}`;
      const there = (marks.get(key) ?? []).filter((one) => one.from !== from || one.to !== to);
      marks.set(key, [...there, {mark: other ? "copy" : mark, from, to}]);
    }
  }
  return marks;
}

export class PhysicalPanel {
  constructor(app, parent) {
    this.app = app;
    this.tabs = make("div", {role: "tablist", "aria-label": "Physical view", class: "la-tabs"});
    this.controls = make("div", {class: "la-row"});
    this.note = make("p", {class: "la-note"});
    this.body = make("div", {role: "tabpanel", "aria-label": "Physical view"});
    this.body.append(this.controls, this.note);
    parent.append(section("Physical places", this.tabs, this.body));
    this.gridBox = make("div", {});
    this.body.append(this.gridBox);
    this.grid = new Grid(this.gridBox, {
      label: "Physical places",
      onPick: (cell) => app.select(cell.flats),
    });
    this.buildTabs();
  }

  buildTabs() {
    this.buttons = Object.entries(VIEWS).map(([name, text]) =>
      make(
        "button",
        {role: "tab", type: "button", "data-view": name, onclick: () => this.choose(name)},
        text,
      ),
    );
    this.tabs.append(...this.buttons);
    this.tabs.addEventListener("keydown", (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!step) return;
      const at = this.buttons.indexOf(document.activeElement);
      const next = this.buttons[(at + step + this.buttons.length) % this.buttons.length];
      next.focus();
      this.choose(next.dataset.view);
    });
  }

  choose(view) {
    this.app.update({view});
  }

  refresh() {
    const {app} = this;
    if (!app.subject) return;
    const name = app.viewName();
    for (const button of this.buttons) {
      const chosen = button.dataset.view === name;
      button.setAttribute("aria-selected", chosen ? "true" : "false");
      button.tabIndex = chosen ? 0 : -1;
    }
    this.controls.replaceChildren();
    this.note.textContent = "";
    try {
      this.view = this.viewOf(name);
      this.note.textContent = this.view.title;
      this.gridBox.hidden = false;
      this.grid.zoom = app.state.zoom;
      this.marks = marksOf(this.view, app.highlights());
      this.grid.show(this.view, this.marks);
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      this.view = null;
      this.note.textContent = error.message;
      this.gridBox.hidden = true;
    }
  }

  viewOf(name) {
    const {app} = this;
    const {subject, state} = app;
    const fixed = readFixed(state.physicalFixed);
    const options = {colour: state.colour, fixed};
    const make = {
      owner: () => ownerView(subject, options),
      tmem: () => tmemView(subject, options),
      banks: () => banksView(subject, app.target, state.base, options),
    }[name];
    const key = JSON.stringify([name, options, state.target, state.base]);
    if (make) return rememberedView(subject, key, make);
    const {axes} = subject;
    if (axes.length <= 1) return this.oneAxisView(options);
    const rowAxis = axes.includes(state.physicalRow) ? state.physicalRow : axes[0];
    const others = axes.filter((axis) => axis !== rowAxis);
    const columnAxis = others.includes(state.physicalColumn) ? state.physicalColumn : others.at(-1);
    this.axisControls(rowAxis, columnAxis, fixed);
    const chosen = {...options, rowAxis, columnAxis};
    return rememberedView(subject, JSON.stringify(chosen), () => placesView(subject, chosen));
  }

  /** One axis, wrapped at a width that can be changed. */
  oneAxisView(options) {
    const {app} = this;
    const {subject, state} = app;
    const width = state.width > 0 ? state.width : Math.min(subject.shape.at(-1), 4096);
    const field = numberField(
      "Places to a row",
      (value) => app.update({width: Math.max(1, value)}),
      {min: 1},
    );
    field.input.value = width;
    this.controls.append(field.element);
    const chosen = {...options, axis: subject.axes[0] ?? "m", width};
    return rememberedView(subject, JSON.stringify(chosen), () => wrappedView(subject, chosen));
  }

  axisControls(rowAxis, columnAxis, fixed) {
    const {app} = this;
    const {subject} = app;
    const rows = choice("Rows", (physicalRow) => app.update({physicalRow}));
    const columns = choice("Columns", (physicalColumn) => app.update({physicalColumn}));
    rows.setOptions(
      subject.axes.map((axis) => [axis, axis]),
      rowAxis,
    );
    const others = subject.axes.filter((axis) => axis !== rowAxis);
    columns.setOptions(
      others.map((axis) => [axis, axis]),
      columnAxis,
    );
    this.controls.append(rows.element, columns.element);
    for (const axis of subject.axes) {
      if (axis === rowAxis || axis === columnAxis) continue;
      const [min, max] = placeRange(subject.layout, axis);
      const changed = (value) => {
        const kept = Math.max(min, Math.min(max, value));
        app.update({physicalFixed: writeFixed({...fixed, [axis]: kept})});
      };
      const field = numberField(`${axis} =`, changed, {min, max});
      field.input.value = fixed[axis] ?? min;
      this.controls.append(field.element);
    }
  }

  reveal(flat) {
    const cell = this.view?.cellsOf(flat)[0];
    if (cell) this.grid.moveTo(cell[0], cell[1]);
  }
}
