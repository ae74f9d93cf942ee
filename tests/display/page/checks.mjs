// Longer expressions that the walk evaluates in the page.

/** Controls without a name, faint texts, grids without an active cell. */
export const NAMES = `{
  const named = (one) =>
    one.getAttribute("aria-label") || one.labels?.length || one.textContent.trim();
  const kinds = "input, select, textarea, button, a[href], [role=grid], [role=tablist], section";
  const controls = [...document.querySelectorAll(kinds)];
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).map(Number);
    if (parts.length === 4 && parts[3] === 0) return null;
    const linear = parts.slice(0, 3).map((x) => {
      const part = x / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const found = light(getComputedStyle(at).backgroundColor);
      if (found !== null) return found;
    }
    return 1;
  };
  const contrast = (one) => {
    const [a, b] = [light(getComputedStyle(one).color), ground(one)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const says = (one) => [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  const texts = [...document.querySelectorAll("main *")].filter(says);
  const grids = [...document.querySelectorAll("[role=grid]")];
  const active = (one) => document.getElementById(one.getAttribute("aria-activedescendant"));
  const shown = (list) => list.map((one) => one.outerHTML.slice(0, 80));
  ({
    language: document.documentElement.lang,
    unnamed: shown(controls.filter((one) => !named(one))),
    faint: shown(texts.filter((one) => contrast(one) < 4.5)),
    active: grids.length > 0 && grids.every(active),
    live: document.querySelectorAll("[aria-live]").length,
    counted: controls.length,
  });
}`;

/** What axe-core finds. */
export const AXE = `axe.run().then(({violations, passes}) => ({
  passes: passes.length,
  violations: violations.map(({id, impact, nodes}) => ({
    id, impact, node: nodes[0].html.slice(0, 200), count: nodes.length,
  })),
}))`;

/** The time of some code and of the drawing that follows: the first, and the best of six. */
export const TIMED = `(async () => {
  const select = (label, value) => {
    const labels = [...document.querySelectorAll("label")];
    const found = labels.find((one) => one.firstChild.textContent === label);
    const control = found.querySelector("select");
    control.value = value;
    control.dispatchEvent(new Event("change"));
  };
  const frames = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const grid = document.querySelector('[role=grid][aria-label="Logical elements"]');
  const key = (key) => grid.dispatchEvent(new KeyboardEvent("keydown", {key}));
  const field = document.querySelector("[data-name=layout]");
  const edit = (text) => {
    field.value = text;
    field.dispatchEvent(new Event("change"));
  };
  const times = [];
  for (let k = 0; k < 6; k += 1) {
    await frames();
    const start = performance.now();
    /*code*/;
    await frames();
    times.push(performance.now() - start);
  }
  // a busy machine only adds time; code that depends on k does one thing for even, one for odd
  const best = Math.max(...[0, 1].map((odd) => Math.min(...times.filter((_, k) => k % 2 === odd))));
  return {first: times[0], best};
})()`;

/** Addresses that nobody's page wrote: each is shown or refused, and none breaks the page. */
export const ADDRESSES = [
  "layout=S%5B",
  "layout=S%5B8%3A1%5D&shape=9999",
  "rowAxis=-7&columnAxis=99&fixed=0%3D1,x=y,2=99",
  "view=nowhere&colour=none&zoom=-4&target=9",
  "view=owner&element=99999&copy=-3",
  "access=column&position=3",
  "access=row&bytes=999999999999999&base=999999999999999",
  "access=lane%20%3C%3C%2060,%200&wavefront=-2",
  "dtype=nothing&width=99999999&view=places",
  "operation=compose&other=S%5B8%5D&layout=S%5B()%5D",
  "operation=compare&other=%25&element=5",
  "layout=S%5B1099511627776%5D&operation=inverse&view=places",
];

/** How many different colours a grid's canvas has: 1 means that nothing was drawn. */
export const coloursOf = (label) => `{
    const canvas = document.querySelector('[role=grid][aria-label="${label}"] canvas');
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let k = 0; k < data.length; k += 4) {
      seen.add(data[k] << 16 | data[k + 1] << 8 | data[k + 2]);
    }
    seen.size;
  }`;
