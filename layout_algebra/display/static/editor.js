// The top of the page: the layout as one text, in parts, as CuTe; presets, shape, type, swizzle.
import {choice, labelled, make, numberField, section, textField} from "./dom.js";
import {cuteText, layoutText, makerText, offsetTexts, tileText} from "./layouts.js";
import {PageError} from "./numbers.js";
import {readLayout, withSwizzle} from "./reading.js";

export class Editor {
  constructor(app, parent) {
    this.app = app;
    const edit = (text) => app.edit({layout: text});
    this.text = textField("Layout", edit, {class: "la-wide", "data-name": "layout"});
    this.shape = textField("Shape", (text) => app.edit({shape: text}), {
      placeholder: "8x16",
      size: 10,
      "data-name": "shape",
    });
    this.dtype = choice("Element type", (dtype) => app.edit({dtype}));
    this.mode = choice("Swizzle mode", (mode) => this.chooseMode(mode));
    this.error = make("p", {class: "la-error", role: "alert"});
    this.about = make("p", {class: "la-about"});
    parent.append(
      section(
        "Layout",
        this.presets(),
        make("div", {class: "la-row"}, this.text.element),
        make("div", {class: "la-row"}, this.shape.element, this.dtype.element, this.mode.element),
        this.parts(),
        this.error,
        this.about,
      ),
    );
  }

  /** Families of the catalogue, then the entries of the chosen one. */
  presets() {
    const {families} = this.app.data.presets;
    this.entries = choice("Entry", (number) => this.choosePreset(Number(number)));
    this.family = choice("Catalogue", (name) => this.listEntries(name));
    this.family.setOptions(
      [["", "choose a family"], ...Object.keys(families).map((n) => [n, n])],
      "",
    );
    this.entries.setOptions([["-1", "no family chosen"]], -1);
    return make("div", {class: "la-row"}, this.family.element, this.entries.element);
  }

  listEntries(name) {
    const entries = this.app.data.presets.families[name] ?? [];
    const options = entries.map((entry, k) => [`${k}`, entry.name]);
    this.entries.setOptions([["-1", `${entries.length} entries`], ...options], -1);
  }

  choosePreset(number) {
    const entry = this.app.data.presets.families[this.family.select.value]?.[number];
    if (!entry) return;
    this.app.edit({layout: entry.layout, shape: entry.shape.join("x"), dtype: entry.dtype});
  }

  /** S[...], R[...], offset and the swizzle's numbers, each in its own field. */
  parts() {
    const edit = () => this.editParts();
    this.shard = textField("Shard S[...]", edit, {class: "la-wide", "data-name": "shard"});
    this.replica = textField("Replica R[...]", edit, {"data-name": "replica"});
    this.offset = textField("Offset", edit, {"data-name": "offset", size: 10});
    const bits = (name) => numberField(name, edit, {min: 0, max: 63, "data-name": name});
    this.swizzle = ["per_element", "swizzle_len", "atom_len"].map(bits);
    this.inner = make("input", {type: "checkbox", onchange: edit});
    this.cute = textField("CuTe text", (text) => this.app.edit({layout: text}), {
      class: "la-wide",
      "data-name": "cute",
    });
    const inner = labelled("swizzle_inner", this.inner);
    return make(
      "details",
      {class: "la-parts"},
      make("summary", {}, "In parts, and as CuTe"),
      make("div", {class: "la-row"}, this.shard.element, this.replica.element, this.offset.element),
      make("div", {class: "la-row"}, ...this.swizzle.map((field) => field.element), inner),
      make("div", {class: "la-row"}, this.cute.element),
    );
  }

  editParts() {
    const words = [this.shard, this.replica, this.offset].map((field) => field.input.value.trim());
    const tile = words.filter(Boolean).join(" + ");
    const [p, b, a] = this.swizzle.map((field) => Number(field.input.value));
    const end = this.inner.checked ? "" : ", swizzle_inner=False";
    const identity = b === 0 && p === 0 && a === 0;
    this.app.edit({layout: identity ? tile : `ComposeLayout(${p}, ${b}, ${a}, ${tile}${end})`});
  }

  /** The swizzle of a mode, in elements of the chosen type, on the tile that is there. */
  chooseMode(name) {
    const {app} = this;
    if (name === "own") return;
    try {
      const layout = readLayout(app.state.layout, app.axisNames);
      if (name === "") {
        app.edit({layout: tileText(layout)});
        return;
      }
      const mode = app.data.modes.find((one) => one.name === name);
      app.edit({layout: layoutText(withSwizzle(layout, this.modeSwizzle(mode)))});
    } catch (error) {
      app.complain(error);
    }
  }

  modeSwizzle(mode) {
    const less = Math.log2(this.app.elementBits) - 3;
    if (!Number.isInteger(less) || this.app.elementBits > 128) {
      throw new PageError(`elements of ${this.app.elementBits} bits do not fill 16 bytes evenly`);
    }
    const [p, b, a] = mode.swizzle;
    return {per_element: p - less, swizzle_len: b, atom_len: a, swizzle_inner: true};
  }

  refresh() {
    const {app} = this;
    const {state, data} = app;
    this.text.input.value = state.layout;
    this.shape.input.value = state.shape;
    const types = data.dtypes.map(([name, width]) => [name, `${name} (${width} bits)`]);
    this.dtype.setOptions(types, state.dtype);
    this.error.textContent = app.error?.message ?? "";
    const bad = app.error ? "true" : "false";
    this.text.input.setAttribute("aria-invalid", bad);
    if (app.error) this.showCaret(app.error);
    if (app.subject) this.refreshParts(app.subject.layout);
  }

  showCaret({message, column}) {
    if (column === null || column === undefined) return;
    const before = this.app.state.layout.slice(0, column);
    this.error.textContent = `${message} (at column ${column}, after "${before.slice(-20)}")`;
  }

  refreshParts(layout) {
    this.shard.input.value = makerText("S", layout.shard);
    this.replica.input.value = layout.replica.length ? makerText("R", layout.replica) : "";
    this.offset.input.value = offsetTexts(layout).join(" + ");
    const numbers = layout.swizzle ?? {per_element: 0, swizzle_len: 0, atom_len: 0};
    this.swizzle.forEach((field, k) => {
      field.input.value = [numbers.per_element, numbers.swizzle_len, numbers.atom_len][k];
    });
    this.inner.checked = layout.swizzle?.swizzle_inner ?? true;
    const cute = cuteText(layout);
    this.cute.input.value = cute ?? "";
    this.cute.input.placeholder = cute === null ? "CuTe has one number and no copies" : "";
    this.refreshMode(layout);
    const {subject} = this.app;
    const copies = layout.copies > 1 ? `, ${layout.copies} copies of each` : "";
    const preset = this.app.presetOf(layoutText(layout));
    const source = preset
      ? ` ${preset.name}: ${this.app.data.presets.sources[preset.source]}.`
      : "";
    const axes = layout.axes.join(", ") || "no axis";
    this.about.textContent = `${subject.count} elements${copies}, on ${axes}.${source}`;
  }

  /** Which of the modes the layout's swizzle is, if it is one. */
  refreshMode(layout) {
    const modes = this.app.data.modes.map((mode) => [mode.name, mode.name]);
    let name = layout.swizzle ? "own" : "";
    for (const mode of this.app.data.modes) {
      let numbers = null;
      try {
        numbers = this.modeSwizzle(mode);
      } catch (error) {
        if (!(error instanceof PageError)) throw error;
      }
      if (numbers && JSON.stringify(numbers) === JSON.stringify(layout.swizzle)) name = mode.name;
    }
    this.mode.setOptions([["", "no swizzle"], ...modes, ["own", "numbers of its own"]], name);
  }
}
