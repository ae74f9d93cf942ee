// Small functions that make elements with labels; every control of the page has one.

/** An element: make("button", {class: "x", onclick: f}, "text", child). */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A control inside its label. */
export function labelled(text, control) {
  return make("label", {class: "la-field"}, make("span", {}, text), control);
}

/** A text field; `changed` is called with its text when it is done. */
export function textField(text, changed, attributes = {}) {
  const input = make("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    ...attributes,
  });
  input.addEventListener("change", () => changed(input.value));
  return {element: labelled(text, input), input};
}

export function numberField(text, changed, attributes = {}) {
  const input = make("input", {type: "number", step: 1, ...attributes});
  input.addEventListener("change", () => changed(Math.trunc(Number(input.value) || 0)));
  return {element: labelled(text, input), input};
}

/** A choice; `setOptions` takes [value, text] pairs and keeps them when nothing changed. */
export function choice(text, changed) {
  const select = make("select", {});
  select.addEventListener("change", () => changed(select.value));
  let written = "";
  const setOptions = (options, value) => {
    const now = JSON.stringify(options);
    if (now !== written) {
      written = now;
      select.replaceChildren(
        ...options.map(([one, shown]) => make("option", {value: one}, `${shown}`)),
      );
    }
    select.value = `${value}`;
  };
  return {element: labelled(text, select), select, setOptions};
}

/** A part of the page with a heading. */
export function section(title, ...children) {
  return make(
    "section",
    {class: "la-section", "aria-label": title},
    make("h2", {}, title),
    ...children,
  );
}
