// A second layout: compare, compose, invert.  Found by enumeration here, or asked of Python.
import {choice, make, section, textField} from "./dom.js";
import {layoutText, placeText} from "./layouts.js";
import {PageError} from "./numbers.js";
import {compare, composeTable, inverseTable} from "./operations.js";
import {Grid} from "./painting.js";
import {marksOf} from "./panels.js";
import {readLayout} from "./reading.js";
import {elementName, logicalView, subjectOf, subjectOfTable} from "./views.js";

const OPERATIONS_SHOWN = [
  ["", "nothing"],
  ["compare", "compare with the other"],
  ["compose", "compose: other(this(x))"],
  ["inverse", "invert this"],
];
/** Differing elements that are marked. */
const MOST_MARKED = 4096;

export class OperationPanel {
  constructor(app, parent) {
    this.app = app;
    this.operation = choice("Operation", (operation) => app.update({operation}));
    this.other = textField("Other layout", (other) => app.update({other}), {
      class: "la-wide",
      "data-name": "other",
    });
    this.result = make("p", {"data-name": "result"});
    this.use = make(
      "button",
      {type: "button", onclick: () => this.useResult()},
      "Take the result as the layout",
    );
    this.ask = make("button", {type: "button", onclick: () => this.askPython()}, "Ask Python");
    this.gridBox = make("div", {});
    const box = section(
      "Two layouts",
      make("div", {class: "la-row"}, this.operation.element, this.other.element),
      this.result,
      make("div", {class: "la-row"}, this.use, this.ask),
      this.gridBox,
    );
    parent.append(box);
    this.grid = new Grid(this.gridBox, {
      label: "Result",
      onPick: (cell) => app.select(cell.flats.filter((flat) => flat < app.subject.count)),
    });
  }

  refresh() {
    const {app} = this;
    const {state} = app;
    this.operation.setOptions(OPERATIONS_SHOWN, state.operation);
    this.other.input.value = state.other;
    this.other.element.hidden = !["compare", "compose"].includes(state.operation);
    this.ask.hidden = !app.host.operate || !state.operation;
    this.made = null;
    this.gridBox.hidden = true;
    this.result.textContent = "";
    if (app.subject && state.operation) this.compute();
    this.use.hidden = !this.made;
  }

  compute() {
    const {app} = this;
    const {state, subject} = app;
    try {
      const needsOther = state.operation !== "inverse";
      if (needsOther && !state.other.trim()) {
        this.result.textContent = "Write the other layout.";
        return;
      }
      const other = needsOther ? readLayout(state.other, app.axisNames) : null;
      if (state.operation === "compare") this.showComparison(subject, other);
      else if (state.operation === "compose") {
        this.showTable(composeTable(other, subject.layout), subject.shape);
      } else this.showTable(inverseTable(subject.layout), [subject.layout.size]);
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      this.result.textContent = error.message;
    }
  }

  showComparison(subject, other) {
    const {app} = this;
    const {count, sizes, differing} = compare(subject.layout, other);
    const shape = count === subject.count ? subject.shape : [count];
    const second = subjectOf(other, shape, app.elementBits, app.data.axes);
    const parts = [];
    if (sizes[0] !== sizes[1]) parts.push(`sizes ${sizes[0]} and ${sizes[1]}`);
    if (!differing.length) parts.push(`all ${count} elements have the same places`);
    else {
      const [flat] = differing;
      const at = (one) => one.places(flat).map(placeText).join("; ");
      parts.push(
        `${differing.length} of ${count} elements differ, first ${elementName(flat, shape)}: ` +
          `${at(subject)} here, ${at(second)} in the other`,
      );
    }
    this.result.textContent = `By enumeration: ${parts.join("; ")}.`;
    this.draw(second, differing.slice(0, MOST_MARKED));
  }

  showTable(table, shape) {
    const {app} = this;
    const count = table.values.length;
    const own = shape.reduce((a, b) => a * b, 1) === count ? shape : [count];
    this.made = table.layoutText;
    const text = table.layoutText
      ? `it is ${table.layoutText}`
      : "no S[...] of these strides was recognised; a swizzled one may be";
    this.result.textContent = `By enumeration of ${count} elements, ${table.text}: ${text}.`;
    this.draw(subjectOfTable(table, own, app.elementBits, app.data.axes), []);
  }

  /** The result as a logical grid, with what differs marked. */
  draw(subject, differing) {
    const {app} = this;
    const rank = subject.shape.length;
    const chosen = app.drawnDimensions();
    const [row, column] =
      rank === app.subject.shape.length ? [chosen.row, chosen.column] : [-1, rank - 1];
    const options = {row, column, fixed: {}, colour: app.state.colour, cellText: "place"};
    this.view = logicalView(subject, options);
    const highlights = differing.map((flat) => ({flat, mark: "differs"}));
    this.marks = marksOf(this.view, [...highlights, ...app.selectedHighlights(subject.count)]);
    this.gridBox.hidden = false;
    this.grid.zoom = app.state.zoom;
    this.grid.show(this.view, this.marks);
  }

  useResult() {
    if (this.made) this.app.edit({layout: this.made, shape: "", operation: ""});
  }

  async askPython() {
    const {app} = this;
    const {state, subject} = app;
    const layouts = [layoutText(subject.layout)];
    if (state.operation !== "inverse") layouts.push(state.other);
    this.result.textContent = "Python is asked ...";
    const reply = await app.host.operate({operation: state.operation, layouts});
    this.result.textContent = reply.error ?? reply.text;
    this.made = reply.layout ?? null;
    this.use.hidden = !this.made;
  }
}
