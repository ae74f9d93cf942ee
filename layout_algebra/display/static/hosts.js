// Where a page runs: as a file, or in a notebook.
//
//   mountPage(element, data)          // a file: the state is in the address
//   export default {render}           // anywidget: the state is the model's, Python answers
import {App} from "./page.js";
import {addressOf, stateOf} from "./state.js";

/** Milliseconds of quiet before the address is written. */
const QUIET = 100;

/** Shows the page in an element. */
export function mount(root, data, host = {}) {
  return new App(root, data, host);
}

/** The page as a file: the state is in the address. */
export function mountPage(root, data) {
  let timer;
  const write = (now) => {
    if (now !== (location.hash || "#")) history.replaceState(null, "", now);
  };
  const host = {
    address: () => location.hash,
    remember: (address) => {
      clearTimeout(timer); // browsers slow down pages that write their address often
      timer = setTimeout(() => write(`#${address}`), QUIET);
    },
  };
  const app = mount(root, data, host);
  window.addEventListener("hashchange", () => {
    app.witness = null;
    app.state = stateOf(location.hash, app.defaults);
    app.compute();
    app.refresh();
  });
  return app;
}

/** anywidget: the state is the model's, and Python answers requests by their number. */
export function render({model, el}) {
  const waiting = new Map();
  let number = 0;
  const ask = (kind) => (request) =>
    new Promise((resolve) => {
      number += 1;
      waiting.set(number, resolve);
      model.send({kind, number, ...request});
    });
  const answer = (reply) => {
    waiting.get(reply.number)?.(reply);
    waiting.delete(reply.number);
  };
  const remember = (address) => {
    if (address === model.get("state")) return;
    model.set("state", address);
    model.save_changes();
  };
  const host = {
    address: () => model.get("state"),
    remember,
    prove: ask("prove"),
    operate: ask("operate"),
  };
  model.on("msg:custom", answer);
  const root = document.createElement("div");
  el.append(root);
  const app = mount(root, model.get("data"), host);
  const follow = () => {
    if (model.get("state") === addressOf(app.state, app.defaults)) return;
    app.state = stateOf(model.get("state"), app.defaults);
    app.compute();
    app.refresh();
  };
  model.on("change:state", follow);
  return () => {
    model.off("msg:custom", answer);
    model.off("change:state", follow);
  };
}

export default {render};
