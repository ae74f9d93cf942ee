// What is known of the chosen element: its copies, its bytes, who else is there, the formula.
import {make, section} from "./dom.js";
import {MOST_COPIES, copyPlace, elementsAt, placeKey, placeText} from "./layouts.js";
import {footprint} from "./memory.js";
import {spans} from "./numbers.js";
import {stepsOf} from "./steps.js";
import {elementName} from "./views.js";

/** Copies that get a button of their own. */
const MOST_BUTTONS = 64;

export class DetailPanel {
  constructor(app, parent) {
    this.app = app;
    this.body = make("div", {});
    parent.append(section("The chosen element", this.body));
  }

  refresh() {
    const {app} = this;
    const {subject, state} = app;
    if (!subject || state.element < 0) {
      this.body.replaceChildren(
        make(
          "p",
          {},
          "Click a cell, or press Enter on one: its copies and its formula appear here.",
        ),
      );
      return;
    }
    const places = subject.places(state.element);
    const copy = Math.min(state.copy, places.length - 1);
    this.body.replaceChildren(
      make(
        "p",
        {"data-name": "element"},
        `Element ${elementName(state.element, subject.shape)}, flat index ${state.element}`,
      ),
      this.copies(places, copy),
      this.sharing(places[copy]),
      this.bytes(places[copy]),
      this.steps(places[copy]),
    );
  }

  copies(places, chosen) {
    const buttons = places
      .slice(0, MOST_BUTTONS)
      .map((place, k) =>
        make(
          "button",
          {
            type: "button",
            "aria-pressed": k === chosen ? "true" : "false",
            onclick: () => this.app.update({copy: k}),
          },
          placeText(place) || "no axis",
        ),
      );
    const more = places.length > MOST_BUTTONS ? ` and ${places.length - MOST_BUTTONS} more` : "";
    const title = places.length === 1 ? "Its place:" : `Its ${places.length} places:`;
    return make(
      "div",
      {class: "la-row", "data-name": "copies"},
      make("span", {}, title),
      ...buttons,
      more,
    );
  }

  sharing(place) {
    const {subject, state} = this.app;
    const {flats, complete} = elementsAt(subject.layout, place, subject.count);
    const others = flats.filter((flat) => flat !== state.element);
    if (!others.length && complete) return make("p", {}, "No other element lies there.");
    const names = others.slice(0, 12).map((flat) => elementName(flat, subject.shape));
    const cut = complete ? "" : " (the search was cut short)";
    return make(
      "p",
      {class: "la-shared"},
      `Also there: ${names.join(", ")}${others.length > 12 ? ", ..." : ""}${cut}`,
    );
  }

  /** Bytes and banks, where the layout is of memory alone. */
  bytes(place) {
    const {app} = this;
    if (app.subject.axes.some((axis) => axis !== "m")) return "";
    const {bit, bits, banks} = footprint(place.m ?? 0, app.elementBits, app.target);
    const first = bit / 8;
    const where =
      Number.isInteger(first) && bits % 8 === 0
        ? `bytes ${first} to ${first + bits / 8 - 1}`
        : `bits ${bit} to ${bit + bits - 1}`;
    return make(
      "p",
      {"data-name": "bytes"},
      `From the buffer's beginning: ${where}, bank ${spans(banks)} at base 0`,
    );
  }

  steps(place) {
    const {subject, state} = this.app;
    const copy = this.copyNumber(place);
    const lines = stepsOf(subject.layout, subject.shape, state.element, copy);
    return make(
      "ol",
      {class: "la-steps", "data-name": "steps"},
      ...lines.map((line) => make("li", {}, line)),
    );
  }

  /** The number of the first copy at a place: equal places are shown once. */
  copyNumber(place) {
    const {subject, state} = this.app;
    const count = Math.min(subject.layout.copies, MOST_COPIES);
    const key = placeKey(place);
    for (let copy = 0; copy < count; copy += 1) {
      if (placeKey(copyPlace(subject.layout, state.element, copy)) === key) return copy;
    }
    return 0;
  }
}
