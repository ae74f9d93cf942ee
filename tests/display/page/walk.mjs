// A walk through the page in a headless Chromium: node walk.mjs CHROMIUM FOLDER [AXE]
//
// FOLDER has the pages fragment, tile, tmem, broken, big and widget, each an .html file.  What is
// found at each step is printed as one JSON object; the Python test says what has to be there.
import {readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {ADDRESSES, AXE, NAMES, TIMED, coloursOf} from "./checks.mjs";
import {Chromium} from "./chromium.mjs";

const [, , program, folder, axe] = process.argv;
const browser = await Chromium.start(program);
const found = {};
/** A page with everything on it. */
const BUSY = "#access=column&element=5&operation=compare&other=S%5B8%3A1%5D";

const address = (name, hash = "") => `${pathToFileURL(join(folder, `${name}.html`))}${hash}`;

/** Opens a page afresh: the same file with another hash would not be loaded again. */
async function open(name, hash) {
  await browser.send("Page.navigate", {url: "about:blank"});
  await browser.open(address(name, hash));
}

/** Text of a named part of the page. */
const text = (name) =>
  browser.value(`document.querySelector('[data-name="${name}"]')?.textContent ?? null`);

/** Types a text into a named field and leaves it. */
async function write(name, value) {
  await browser.value(`{
    const field = document.querySelector('[data-name="${name}"]');
    field.value = ${JSON.stringify(value)};
    field.dispatchEvent(new Event("change", {bubbles: true}));
  }`);
  await browser.settle();
}

/** Chooses in the control with a label. */
async function choose(label, value) {
  await browser.value(`{
    const [label, value] = ${JSON.stringify([label, value])};
    const labels = [...document.querySelectorAll("label")];
    const found = labels.find((one) => one.firstChild.textContent === label);
    const control = found.querySelector("select");
    control.value = value;
    if (control.value !== value) throw new Error("no such choice: " + value);
    control.dispatchEvent(new Event("change", {bubbles: true}));
  }`);
  await browser.settle();
}

const verdicts = () => browser.value("document.querySelector('.la-verdicts').textContent");
const layout = () => browser.value("document.querySelector('[data-name=layout]').value");

/** The address, once it is written. */
async function hash() {
  await browser.value("new Promise((done) => setTimeout(done, 250))");
  return browser.value("location.hash");
}

async function press(selector) {
  await browser.value(`document.querySelector(${JSON.stringify(selector)}).click()`);
  await browser.settle();
}

/** A grid by its label, as a screen reader has it. */
const grid = (label) =>
  browser.value(`{
    const grid = document.querySelector('[role=grid][aria-label="${label}"]');
    const cell = grid.querySelector("[role=gridcell]");
    ({rows: grid.getAttribute("aria-rowcount"), columns: grid.getAttribute("aria-colcount"),
      row: cell.parentElement.getAttribute("aria-rowindex"),
      column: cell.getAttribute("aria-colindex"),
      cell: cell.textContent, selected: cell.getAttribute("aria-selected")});
  }`);

const colours = (label) => browser.value(coloursOf(label));

/** Clicks into a grid at a point from its corner. */
async function clickGrid(label, x, y) {
  const box = await browser.value(`{
    const grid = document.querySelector('[role=grid][aria-label="${label}"]');
    grid.scrollIntoView({block: "center"});
    const box = grid.querySelector("canvas").getBoundingClientRect();
    ({x: box.left, y: box.top});
  }`);
  await browser.click(box.x + x, box.y + y);
}

async function keep(name) {
  writeFileSync(join(folder, `${name}.png`), Buffer.from(await browser.screenshot(), "base64"));
}

const STEPS = {
  async opens() {
    await open("fragment");
    await keep("fragment");
    return {
      heading: await browser.value("document.querySelector('h1').textContent"),
      verdicts: await verdicts(),
      grid: await grid("Logical elements"),
      drawn: [await colours("Logical elements"), await colours("Physical places")],
    };
  },

  async chooses() {
    await open("fragment");
    await clickGrid("Logical elements", 200, 20 + 22 + 11);
    const logical = {
      grid: await grid("Logical elements"),
      element: await text("element"),
      copies: await text("copies"),
      steps: await text("steps"),
    };
    await press('[data-name="copies"] button:last-of-type');
    const copy = await text("steps");
    await clickGrid("Physical places", 130, 20 + 11);
    return {
      logical,
      copy,
      physical: {grid: await grid("Physical places"), element: await text("element")},
    };
  },

  async keys() {
    await open("fragment");
    await browser.value(
      `document.querySelector('[role=grid][aria-label="Logical elements"]').focus()`,
    );
    const seen = [];
    for (const [key, modifiers] of [
      ["ArrowRight", 0],
      ["ArrowDown", 0],
      ["End", 0],
      ["Home", 2],
      ["End", 2],
      ["Enter", 0],
    ]) {
      await browser.key(key, modifiers);
      const {row, column} = await grid("Logical elements");
      seen.push([row, column]);
    }
    const spoken = await browser.value("document.querySelector('[role=status]').textContent");
    return {seen, spoken, element: await text("element"), grid: await grid("Logical elements")};
  },

  async edits() {
    await open("fragment");
    await write("layout", "S[(8, 64) : (64, 1)]");
    const whole = {
      grid: await grid("Logical elements"),
      address: await hash(),
      verdicts: await verdicts(),
    };
    await choose("Swizzle mode", "B128");
    const mode = await layout();
    await write("replica", "R[2 : 512]");
    const parts = await layout();
    await write("cute", "(4,8):(8,1)");
    const cute = await layout();
    await write("layout", "S[(8, 4) : 1]");
    const error = await browser.value("document.querySelector('[role=alert]').textContent");
    return {whole, mode, parts, cute, error, kept: await grid("Logical elements")};
  },

  async presets() {
    await open("fragment");
    await choose("Catalogue", "wgmma");
    const entries = await browser.value(
      "document.querySelectorAll('.la-top select')[1].options.length",
    );
    await choose("Entry", "0");
    await keep("preset");
    return {
      entries,
      layout: await layout(),
      verdicts: await verdicts(),
      about: await browser.value("document.querySelector('.la-about').textContent"),
    };
  },

  async views() {
    const seen = {};
    const pages = {
      fragment: ["owner", "places", "banks", "tmem"],
      tile: ["banks", "places", "owner"],
      tmem: ["tmem", "places"],
    };
    for (const [name, views] of Object.entries(pages)) {
      await open(name);
      for (const view of views) {
        await press(`[role=tab][data-view=${view}]`);
        const shown = await browser.value(`{
          const box = document.querySelector('[role=tabpanel]');
          ({note: box.querySelector(".la-note").textContent,
            drawn: !box.querySelector("[role=grid]").parentElement.hidden,
            chosen: document.querySelector('[role=tab][aria-selected=true]').dataset.view});
        }`);
        if (shown.drawn)
          Object.assign(shown, await grid("Physical places"), {
            colours: await colours("Physical places"),
          });
        seen[`${name} ${view}`] = shown;
        await keep(`${name}-${view}`);
      }
    }
    return seen;
  },

  async accesses() {
    await open("tile");
    await choose("Access", "column");
    const whole = await text("service");
    const shown = [];
    for (let k = 0; k < 3; k += 1) {
      await press('[data-name="next"]');
      shown.push(await text("wavefront"));
    }
    await press('[data-name="previous"]');
    await keep("access");
    const back = await text("wavefront");
    const bars = await text("bars");
    await choose("Swizzle mode", "B128");
    const swizzled = await text("service");
    await choose("Access", "custom");
    await write("formula", "lane % 16, lane // 16 * 8");
    return {
      whole,
      shown,
      back,
      bars,
      swizzled,
      formula: await text("service"),
      grid: await grid("Lanes and banks of the access"),
    };
  },

  async witness() {
    await open("broken");
    const before = await verdicts();
    await press('[data-name="show-witness"]');
    await keep("witness");
    const told = await text("witness");
    const cell = await grid("Logical elements");
    await write("layout", "S[(64, 256) : (255, 1)]");
    return {verdicts: before, told, cell, edited: await verdicts()};
  },

  async operations() {
    await open("tile");
    await choose("Operation", "compare");
    await write("other", "S[(128, 64) : (1, 128)]");
    const compared = await text("result");
    await keep("compare");
    await choose("Operation", "compose");
    await write("other", "S[(64, 128) : (1, 64)]");
    const composed = await text("result");
    await choose("Operation", "inverse");
    await write("layout", "S[(8, 4) : (1, 8)]");
    await choose("Operation", "inverse");
    return {compared, composed, inverted: await text("result"), drawn: await colours("Result")};
  },

  async exports() {
    await open("tile", "#access=column&bytes=16");
    const texts = {};
    for (const name of [
      "logical.svg",
      "places.svg",
      "access.svg",
      "layout.json",
      "queries.smt2",
      "layout.py",
    ]) {
      await choose("What", name);
      texts[name] = await browser.value("document.querySelector('[data-name=export]').value");
      const link = await browser.value(`{
        const link = document.querySelector("a.la-save");
        fetch.name && link.download + " " + link.href.slice(0, 5);
      }`);
      if (link !== `${name} blob:`) throw new Error(`no file to save: ${link}`);
    }
    return texts;
  },

  async address() {
    await open("tile");
    await choose("Colour by", "bank");
    await press("[role=tab][data-view=places]");
    await clickGrid("Logical elements", 120, 31);
    const written = await hash();
    const before = await text("element");
    await open("tile", written);
    const after = await text("element");
    const view = await browser.value(
      "document.querySelector('[role=tab][aria-selected=true]').dataset.view",
    );
    return {hash: written, before, after, view};
  },

  async addresses() {
    const told = [];
    for (const one of ADDRESSES) {
      await open("tile", `#${one}`);
      told.push(await browser.value("document.querySelector('[role=alert]').textContent"));
    }
    return told;
  },

  /** Milliseconds of each interaction, drawing included: the first and the best of six. */
  async speed() {
    await open("big");
    const timed = (code) => browser.value(TIMED.replace("/*code*/", code));
    return {
      nothing: await timed(""),
      edit: await timed("edit(`S[(64, 256) : (${256 + k}, 1)]`)"),
      choose: await timed("key('ArrowDown'); key('Enter')"),
      scroll: await timed("grid.scrollTop += 300; grid.scrollLeft += 500"),
      zoom: await timed("select('Size', `${k % 2}`)"),
      view: await timed(
        "document.querySelector(`[data-view=${k % 2 ? 'banks' : 'places'}]`).click()",
      ),
      access: await timed("select('Access', k % 2 ? 'row' : 'column')"),
      step: await timed("document.querySelector('[data-name=next]').click()"),
    };
  },

  async huge() {
    await open("tile");
    await write("layout", "S[(1048576, 1048576) : (1048576, 1)]");
    await write("shape", "1048576x1048576");
    await browser.value(
      `document.querySelector('[role=grid][aria-label="Logical elements"]').focus()`,
    );
    await browser.key("End", 2);
    await browser.key("Enter");
    return {
      grid: await grid("Logical elements"),
      element: await text("element"),
      drawn: await colours("Logical elements"),
    };
  },

  /** In a notebook: a model that answers as Python would. */
  async widget() {
    await open("widget");
    await browser.value("window.ready");
    await write("layout", "S[(8, 4) : (4, 1)]");
    await browser.value("new Promise((done) => setTimeout(done, 600))");
    const state = await browser.value("window.model.values.state");
    const asked = await browser.value("window.model.sent");
    await browser.settle();
    return {state, asked, verdicts: await verdicts()};
  },

  /** Roles, names and contrast, without any other program. */
  async names() {
    await open("tile", BUSY);
    return browser.value(NAMES);
  },

  async axe() {
    if (!axe) return null;
    const source = readFileSync(axe, "utf8");
    const all = {};
    const pages = [
      ["tile", BUSY],
      ["fragment", ""],
      ["broken", ""],
    ];
    for (const [name, hash] of pages) {
      await open(name, hash);
      await browser.value(source);
      all[name] = await browser.value(AXE);
    }
    all.version = await browser.value("axe.version");
    return all;
  },
};

for (const [name, step] of Object.entries(STEPS)) {
  browser.problems = [];
  browser.requests = [];
  try {
    found[name] = {found: await step()};
  } catch (error) {
    found[name] = {failed: error.stack};
  }
  // reading the canvases back, as only this walk does, makes the browser give advice
  const problems = browser.problems.filter(
    (text) => !text.startsWith("Canvas2D: Multiple readback"),
  );
  const foreign = browser.requests.filter((url) => !/^(file|data|blob|about|chrome):/.test(url));
  Object.assign(found[name], {problems, foreign});
}
await browser.close();
process.stdout.write(JSON.stringify(found));
