// The exports: a text to look at, to copy, and to save as a file.
import {choice, make, section} from "./dom.js";
import {jsonOf, pythonOf, smtOf, svgOf} from "./exporting.js";

const KINDS = [
  ["logical.svg", "SVG of the logical grid", "image/svg+xml"],
  ["places.svg", "SVG of the places", "image/svg+xml"],
  ["access.svg", "SVG of the access", "image/svg+xml"],
  ["layout.json", "JSON", "application/json"],
  ["queries.smt2", "SMT-LIB of the proofs", "text/plain"],
  ["layout.py", "Python", "text/x-python"],
];

export class ExportPanel {
  constructor(app, parent) {
    this.app = app;
    this.kind = choice("What", () => this.write());
    this.kind.setOptions([["", "choose"], ...KINDS.map(([name, text]) => [name, text])], "");
    this.text = make("textarea", {
      rows: 8,
      readonly: true,
      "aria-label": "The exported text",
      "data-name": "export",
    });
    this.save = make("a", {class: "la-save"}, "Save as a file");
    this.note = make("p", {class: "la-note"});
    this.box = make("div", {}, this.text, make("div", {class: "la-row"}, this.save));
    parent.append(
      section("Export", make("div", {class: "la-row"}, this.kind.element), this.note, this.box),
    );
    this.box.hidden = true;
  }

  refresh() {
    this.kind.select.value = "";
    this.box.hidden = true;
    this.note.textContent = "";
  }

  write() {
    const name = this.kind.select.value;
    const [, , type] = KINDS.find(([one]) => one === name) ?? [];
    const text = type ? this.made(name) : "";
    this.box.hidden = !text;
    this.note.textContent = type && !text ? this.why(name) : "";
    if (!text) return;
    this.text.value = text;
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = URL.createObjectURL(new Blob([text], {type}));
    this.save.href = this.address;
    this.save.download = name;
  }

  why(name) {
    if (name === "queries.smt2")
      return "No proof of this layout is in the page; in Python it is proof.queries().";
    return "There is nothing of it to export.";
  }

  made(name) {
    const {app} = this;
    if (!app.subject) return "";
    const {logical, physical, accesses} = app.panels;
    const drawn = {"logical.svg": logical, "places.svg": physical, "access.svg": accesses}[name];
    if (drawn) {
      if (!drawn.view || (drawn === accesses && !app.access?.service)) return "";
      const [top, , left] = drawn.grid.window();
      return svgOf(drawn.view, drawn.marks, Math.max(30, drawn.grid.width), [top, left]);
    }
    const verdicts = app.currentVerdicts();
    if (name === "layout.json") return jsonOf(app.subject, app.state, verdicts);
    if (name === "queries.smt2") return smtOf(verdicts);
    return pythonOf(app.subject, app.state, app.pickForPython());
  }
}
