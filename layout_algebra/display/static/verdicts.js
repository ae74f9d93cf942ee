// What is proven about the layout: badges with the verdict, the method and the time.
//
// Verdicts come from Python, live in a notebook, or embedded when the page was written.  A small
// layout that none speaks of is enumerated here, and the badge says ENUMERATED, not PROVED.
import {make, section} from "./dom.js";
import {layoutText, placeText} from "./layouts.js";
import {PageError} from "./numbers.js";
import {collision} from "./operations.js";
import {elementName} from "./views.js";

/** Places that are enumerated at once, without being asked. */
const MOST_AT_ONCE = 1 << 15;

export class VerdictPanel {
  constructor(app, parent) {
    this.app = app;
    this.list = make("ul", {class: "la-verdicts", "aria-label": "Verdicts"});
    this.detail = make("p", {class: "la-note", "data-name": "witness"});
    this.ask = make("button", {type: "button", onclick: () => app.askProofs()}, "Prove again");
    this.ask.hidden = !app.host.prove;
    parent.append(section("Verdicts", this.list, this.detail, this.ask));
  }

  refresh() {
    const {app} = this;
    if (!app.subject) {
      this.list.replaceChildren();
      return;
    }
    const records = app.currentVerdicts();
    const items = records.map((record) => this.badge(record));
    if (!records.some((record) => record.name === "Injective")) items.unshift(this.enumerated());
    this.list.replaceChildren(...items);
    this.detail.textContent = app.witness?.text ?? "";
  }

  badge(record) {
    const {verdict, method, seconds, claim} = record;
    const time = `${(seconds * 1e3).toFixed(2)} ms`;
    const shown = record.short ?? claim;
    const text = make("span", {}, ` ${shown} [${method}, ${time}]`);
    const mark = make("strong", {class: `la-badge la-${verdict.toLowerCase()}`}, verdict);
    const parts = [mark, text];
    if (record.witness) {
      const show = () => this.showWitness(record);
      parts.push(
        make(
          "button",
          {type: "button", "data-name": "show-witness", onclick: show},
          "Show the witness",
        ),
      );
    }
    if (record.reason) parts.push(make("span", {class: "la-reason"}, ` ${record.reason}`));
    return make("li", {}, ...parts);
  }

  showWitness(record) {
    const {app} = this;
    const {witness, access} = record;
    if (access) {
      const points = witness.points[0] ?? {};
      const position = points[access.free] ?? 0;
      app.update({
        access: access.pick,
        bytes: access.bytes,
        kind: access.kind,
        position,
        wavefront: 0,
      });
    }
    const lanes = access ? witness.points.map((point) => point.lane) : [];
    const ofLanes = lanes.flatMap((lane) => {
      const found = app.access?.lanes?.find((one) => one.lane === lane);
      return found ? [found.flats[0]] : [];
    });
    app.showWitness(witness.flats?.length ? witness.flats : ofLanes, witness.summary);
  }

  /** What an enumeration of a small layout says of Injective. */
  enumerated() {
    const {app} = this;
    const {layout, count} = app.subject;
    if (count * layout.copies > MOST_AT_ONCE) {
      const look = () => app.showEnumeration(this.look());
      const button = make("button", {type: "button", onclick: look}, "Enumerate here");
      return make("li", {}, `Injective: no proof for ${layoutText(layout)} in this page. `, button);
    }
    return make("li", {}, ...this.look());
  }

  look() {
    const {app} = this;
    const {subject} = app;
    const badge = (text) => make("strong", {class: "la-badge la-enumerated"}, text);
    let found;
    try {
      subject.collision ??= {found: collision(subject.layout, subject.count)}; // looked for once
      found = subject.collision.found;
    } catch (error) {
      if (!(error instanceof PageError)) throw error;
      return [badge("NOT KNOWN"), ` Injective: ${error.message}`];
    }
    if (!found) {
      return [
        badge("ENUMERATED"),
        ` no two of the ${subject.count} elements share a place; not a proof from Python`,
      ];
    }
    const names = found.flats.map((flat) => elementName(flat, subject.shape)).join(" and ");
    const text = `elements ${names} are both at ${placeText(found.place)}`;
    const show = () => app.showWitness(found.flats, text);
    const button = make(
      "button",
      {type: "button", "data-name": "show-witness", onclick: show},
      "Show them",
    );
    return [badge("NOT INJECTIVE"), ` by enumeration: ${text} `, button];
  }
}
