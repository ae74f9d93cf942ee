// Text to trees: numbers, names, brackets and Python's operators, with columns for carets.
//
//   readTree("4*2@laneid")     // {kind: "@", left: {kind: "*", ...}, right: {kind: "name", ...}}
import {PageError} from "./numbers.js";

const MOST_CHARACTERS = 10000;
const MOST_DEPTH = 100;
const NUMBER = /0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*/;
const MARK = /\/\/|<<|>>|[-+*%@^&|()[\],:=]/;
const TOKEN = new RegExp(
  `\\s*(?:(${NUMBER.source})|([A-Za-z_]\\w*)|("[^"]*"|'[^']*')|(${MARK.source}))`,
  "y",
);
/** Binary operators, the loosest first, as Python has them. */
const LEVELS = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "//", "%", "@"]];

/** [{kind: "number" | "name" | "text" | "mark" | "end", text, column}] */
export function tokensOf(text) {
  if (text.length > MOST_CHARACTERS) {
    throw new PageError(`a text has at most ${MOST_CHARACTERS} characters; got ${text.length}`);
  }
  const tokens = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) {
      const column = at + text.slice(at).search(/\S/);
      throw new PageError(`'${text[column]}' is not part of the notation`, column);
    }
    const kind = match[1] ? "number" : match[2] ? "name" : match[3] ? "text" : "mark";
    const word = match[1] ?? match[2] ?? match[3] ?? match[4];
    at = TOKEN.lastIndex;
    tokens.push({kind, text: word, column: at - word.length});
  }
  tokens.push({kind: "end", text: "the end", column: end});
  return tokens;
}

/** Reads one text; every method takes what it reads off the front. */
class TreeReader {
  constructor(text) {
    this.tokens = tokensOf(text);
    this.at = 0;
    this.depth = 0;
  }

  get next() {
    return this.tokens[this.at];
  }

  take(text) {
    if (this.next.kind !== "mark" || this.next.text !== text) return false;
    this.at += 1;
    return true;
  }

  need(text) {
    if (!this.take(text)) {
      throw new PageError(`'${text}' is missing before ${this.next.text}`, this.next.column);
    }
  }

  /** extents : strides, at most one ':' */
  slice() {
    const first = this.list();
    const column = this.next.column;
    if (!this.take(":")) return first;
    return {kind: "slice", left: first, right: this.list(), column};
  }

  /** One value, or several with commas between them. */
  list() {
    const {column} = this.next;
    const parts = [this.argument()];
    let comma = false;
    while (this.take(",")) {
      comma = true;
      if (this.next.kind === "end" || [")", "]", ":"].includes(this.next.text)) break;
      parts.push(this.argument());
    }
    return comma ? {kind: "tuple", parts, column} : parts[0];
  }

  argument() {
    const following = this.tokens[this.at + 1];
    if (this.next.kind === "name" && following.kind === "mark" && following.text === "=") {
      const {text, column} = this.next;
      this.at += 2;
      return {kind: "keyword", text, value: this.binary(0), column};
    }
    return this.binary(0);
  }

  binary(level) {
    if (level === LEVELS.length) return this.signed();
    let left = this.binary(level + 1);
    while (this.next.kind === "mark" && LEVELS[level].includes(this.next.text)) {
      const {text, column} = this.next;
      this.at += 1;
      left = {kind: text, left, right: this.binary(level + 1), column};
    }
    return left;
  }

  signed() {
    this.depth += 1;
    if (this.depth > MOST_DEPTH) throw new PageError("nested too deeply", this.next.column);
    const {column} = this.next;
    let tree;
    if (this.take("-")) tree = {kind: "minus", value: this.signed(), column};
    else if (this.take("+")) tree = {kind: "plus", value: this.signed(), column};
    else tree = this.postfix();
    this.depth -= 1;
    return tree;
  }

  postfix() {
    let tree = this.atom();
    for (;;) {
      const {column} = this.next;
      if (this.take("[")) {
        tree = {kind: "brackets", of: tree, inside: this.slice(), column};
        this.need("]");
      } else if (this.take("(")) {
        const inside = this.take(")") ? {kind: "tuple", parts: []} : this.list();
        if (inside.parts?.length !== 0) this.need(")");
        const parts = inside.kind === "tuple" ? inside.parts : [inside];
        tree = {kind: "call", of: tree, parts, column};
      } else return tree;
    }
  }

  atom() {
    const token = this.next;
    const close = token.text === "(" ? ")" : "]";
    if (this.take("(") || this.take("[")) {
      if (this.take(close)) return {kind: "tuple", parts: [], column: token.column};
      const inside = this.list();
      this.need(close);
      if (close === "]" && inside.kind !== "tuple")
        return {kind: "tuple", parts: [inside], column: token.column};
      return {...inside, column: token.column, bracketed: true};
    }
    if (!["number", "name", "text"].includes(token.kind)) {
      throw new PageError(`a value is missing before ${token.text}`, token.column);
    }
    this.at += 1;
    return {kind: token.kind, text: token.text, column: token.column};
  }
}

/** The tree of a whole text; `inside` reads it as what stands between S[ and ]. */
export function readTree(text) {
  const reader = new TreeReader(text);
  const tree = reader.list();
  if (reader.next.kind !== "end") {
    throw new PageError(`${reader.next.text} is not expected here`, reader.next.column);
  }
  return tree;
}
