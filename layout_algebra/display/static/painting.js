// One grid on a canvas: only what is in sight is drawn, so that any size scrolls alike.
//
//   const grid = new Grid(element, {label: "Logical elements", onPick: (cell, r, c) => ...});
//   grid.show(view, marks);      // marks: Map from "r,c" to [{mark: "selected", from, to}, ...]
//
// For the keyboard and for screen readers the grid is an ARIA grid with one cell in it, the active
// one, whose row and column numbers and label follow the arrow keys.
import {cellStyle, tintColour} from "./colours.js";

const HEAD = 20;
const ZOOMS = [
  [5, 5],
  [12, 12],
  [0, 22],
  [0, 30],
];
let grids = 0;

export class Grid {
  constructor(parent, {label, onPick}) {
    grids += 1;
    this.onPick = onPick;
    this.active = [0, 0];
    this.zoom = 2;
    this.id = `la-cell-${grids}`;
    this.build(parent, label);
    this.listen();
  }

  build(parent, label) {
    const make = (tag, className, within) => {
      const made = document.createElement(tag);
      made.className = className;
      within.append(made);
      return made;
    };
    this.scroller = make("div", "la-scroll", parent);
    this.grid = this.scroller;
    this.grid.setAttribute("role", "grid");
    this.grid.setAttribute("aria-label", label);
    this.grid.tabIndex = 0;
    const row = make("div", "la-hidden", this.grid);
    row.setAttribute("role", "row");
    this.cellElement = make("div", "", row);
    this.cellElement.setAttribute("role", "gridcell");
    this.cellElement.id = this.id;
    this.rowElement = row;
    this.grid.setAttribute("aria-activedescendant", this.id);
    this.space = make("div", "la-space", this.grid);
    this.space.setAttribute("aria-hidden", "true");
    this.canvas = make("canvas", "la-canvas", this.space);
  }

  listen() {
    this.scroller.addEventListener("scroll", () => this.redraw());
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("click", (event) => {
      const at = this.cellAt(event);
      if (!at) return;
      this.moveTo(...at);
      this.pick(event);
    });
    if (typeof ResizeObserver !== "undefined") {
      new ResizeObserver(() => this.redraw()).observe(this.scroller);
    }
  }

  /** Shows a view; `marks` are drawn over its cells. */
  show(view, marks = new Map()) {
    const other = !this.view || this.view.rows !== view.rows || this.view.cols !== view.cols;
    this.view = view;
    this.marks = marks;
    this.measure();
    if (other) this.active = [0, 0];
    this.grid.setAttribute("aria-rowcount", view.rows);
    this.grid.setAttribute("aria-colcount", view.cols);
    this.tell();
    this.redraw();
  }

  /** Cell sizes from the zoom and from the longest texts in sight. */
  measure() {
    const {view} = this;
    const [width, height] = ZOOMS[this.zoom] ?? ZOOMS[2];
    let longest = 1;
    for (const r of [0, 1, view.rows >> 1, view.rows - 1]) {
      for (const c of [0, 1, view.cols >> 1, view.cols - 1]) {
        if (r < 0 || c < 0 || r >= view.rows || c >= view.cols) continue;
        const cell = view.cell(r, c);
        const texts = cell.pieces ? cell.pieces.map((piece) => piece.text) : [cell.text];
        longest = Math.max(
          longest,
          ...texts.map((text) => text.length * (cell.pieces?.length ?? 1)),
        );
      }
    }
    this.height = height;
    this.width =
      width || Math.max(26, Math.min(400, longest * 7.2 + 8)) * (this.zoom === 3 ? 1.3 : 1);
    const labels = [0, view.rows >> 1, view.rows - 1].map((r) => view.rowLabel(r).length);
    const corner = view.rowTitle.length + view.columnTitle.length + 1;
    this.side = Math.max(34, corner * 6.4 + 6, Math.max(...labels) * 7.2 + 10);
    this.space.style.width = `${this.side + view.cols * this.width + 1}px`;
    this.space.style.height = `${HEAD + view.rows * this.height + 1}px`;
    const tall = HEAD + view.rows * this.height + 18;
    this.scroller.style.height = `${Math.min(tall, 440)}px`;
  }

  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (x < this.side || y < HEAD) return null;
    const c = Math.floor((x - this.side + this.scroller.scrollLeft) / this.width);
    const r = Math.floor((y - HEAD + this.scroller.scrollTop) / this.height);
    return r < this.view.rows && c < this.view.cols ? [r, c] : null;
  }

  key(event) {
    if (!this.view) return;
    const {rows, cols} = this.view;
    const [r, c] = this.active;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 2);
    const moves = {
      ArrowUp: [r - 1, c],
      ArrowDown: [r + 1, c],
      ArrowLeft: [r, c - 1],
      ArrowRight: [r, c + 1],
      PageUp: [r - page, c],
      PageDown: [r + page, c],
      Home: [event.ctrlKey ? 0 : r, 0],
      End: [event.ctrlKey ? rows - 1 : r, cols - 1],
    };
    if (event.key in moves) this.moveTo(...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.pick(event);
    else return;
    event.preventDefault();
  }

  moveTo(r, c) {
    const clip = (value, count) => Math.max(0, Math.min(count - 1, value));
    this.active = [clip(r, this.view.rows), clip(c, this.view.cols)];
    this.tell();
    this.reveal(...this.active);
    this.redraw();
  }

  pick(event) {
    const [r, c] = this.active;
    const cell = this.view.cell(r, c);
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX === undefined ? null : event.clientX - box.left - this.side;
    const part = x === null ? 0 : (x + this.scroller.scrollLeft) / this.width - c;
    const piece = cell.pieces?.find((one) => part >= one.from && part < one.to && one.flats.length);
    this.onPick(piece ?? cell, r, c);
  }

  /** The active cell, for screen readers. */
  tell() {
    const [r, c] = this.active;
    const cell = this.view.cell(r, c);
    const marks = (this.marks.get(`${r},${c}`) ?? []).map((one) => one.mark);
    this.rowElement.setAttribute("aria-rowindex", r + 1);
    this.cellElement.setAttribute("aria-colindex", c + 1);
    this.cellElement.setAttribute("aria-selected", marks.includes("selected") ? "true" : "false");
    const shown = [...new Set(marks)].join(", ");
    this.cellElement.textContent = cell.label + (shown ? ` (${shown})` : "");
  }

  /** Scrolls a cell into sight. */
  reveal(r, c) {
    const {scroller} = this;
    const [top, left] = [r * this.height, c * this.width];
    const [tall, wide] = [scroller.clientHeight - HEAD, scroller.clientWidth - this.side];
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + this.height > scroller.scrollTop + tall)
      scroller.scrollTop = top + this.height - tall;
    if (left < scroller.scrollLeft) scroller.scrollLeft = left;
    else if (left + this.width > scroller.scrollLeft + wide) {
      scroller.scrollLeft = left + this.width - wide;
    }
  }

  redraw() {
    if (this.waiting || !this.view) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  /** The rows and columns in sight: [first row, end, first column, end]. */
  window() {
    const {scrollTop, scrollLeft, clientHeight, clientWidth} = this.scroller;
    const {rows, cols} = this.view;
    return [
      Math.floor(scrollTop / this.height),
      Math.min(rows, Math.ceil((scrollTop + clientHeight) / this.height)),
      Math.floor(scrollLeft / this.width),
      Math.min(cols, Math.ceil((scrollLeft + clientWidth) / this.width)),
    ];
  }

  paint() {
    const {scroller, canvas} = this;
    const [wide, tall] = [scroller.clientWidth, scroller.clientHeight];
    if (!wide || !tall) return;
    this.scrolled = [scroller.scrollLeft, scroller.scrollTop]; // asked once: it costs a layout
    const ratio = globalThis.devicePixelRatio || 1;
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(tall * ratio);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${tall}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "12px ui-monospace, monospace";
    context.textAlign = "center";
    context.textBaseline = "middle";
    const [top, bottom, left, right] = this.window();
    context.clearRect(0, 0, wide, tall);
    this.fill = "";
    context.fillStyle = "#d5d8dc"; // shows through between the cells, also between empty ones
    context.fillRect(0, 0, this.x(right) + 1, this.y(bottom) + 1);
    for (let r = top; r < bottom; r += 1) {
      for (let c = left; c < right; c += 1) this.paintCell(context, r, c);
    }
    this.paintMarks(context, top, bottom, left, right);
    this.paintLabels(context, top, bottom, left, right, wide, tall);
  }

  x(c) {
    return this.side + c * this.width - this.scrolled[0];
  }

  y(r) {
    return HEAD + r * this.height - this.scrolled[1];
  }

  paintCell(context, r, c) {
    const cell = this.view.cell(r, c);
    const [x, y] = [this.x(c), this.y(r)];
    if (!cell.pieces) this.paintPiece(context, cell, x, y, x + this.width, true);
    else {
      for (const piece of cell.pieces) {
        const [from, to] = [x + piece.from * this.width, x + piece.to * this.width];
        this.paintPiece(context, piece, from, y, to, piece.starts);
      }
    }
  }

  /** One fill from x to end, with its text; small cells have neither gaps nor texts. */
  paintPiece(context, {tint, text, crowded}, x, y, end, starts) {
    const gap = this.width > 6 ? 1 : 0;
    const edge = starts ? gap : 0;
    const fill = tintColour(tint);
    if (fill !== this.fill) {
      context.fillStyle = fill; // a new style costs more than a box
      this.fill = fill;
    }
    context.fillRect(x + edge, y + gap, end - x - edge, this.height - gap);
    if (crowded) this.paintCrowd(context, x, y, end - x);
    if (this.height < 16 || !text) return;
    context.fillStyle = "#111";
    context.fillText(text, (x + end) / 2, y + this.height / 2 + 1, end - x - 2);
    this.fill = "";
  }

  /** Several in one place: a red corner, besides the text. */
  paintCrowd(context, x, y, width) {
    const size = Math.min(8, width, this.height);
    context.fillStyle = "#b00020";
    this.fill = "";
    context.beginPath();
    context.moveTo(x + width, y + 1);
    context.lineTo(x + width - size, y + 1);
    context.lineTo(x + width, y + 1 + size);
    context.fill();
  }

  paintMarks(context, top, bottom, left, right) {
    const active = [{mark: "active", from: 0, to: 1}];
    for (const [key, marks] of [...this.marks, [this.active.join(","), active]]) {
      const [r, c] = key.split(",").map(Number);
      if (r < top || r >= bottom || c < left || c >= right) continue;
      for (const mark of marks) this.paintMark(context, r, c, mark);
    }
  }

  paintMark(context, r, c, {mark, from, to}) {
    const style = cellStyle(mark);
    const inset = style.width / 2;
    context.save();
    context.strokeStyle = style.colour;
    context.lineWidth = style.width;
    context.setLineDash(style.dash);
    context.strokeRect(
      this.x(c) + from * this.width + inset,
      this.y(r) + inset,
      (to - from) * this.width - 2 * inset + 1,
      this.height - 2 * inset + 1,
    );
    context.restore();
  }

  paintLabels(context, top, bottom, left, right, wide, tall) {
    context.fillStyle = "#f3f4f6";
    context.fillRect(0, 0, wide, HEAD);
    context.fillRect(0, 0, this.side, tall);
    context.fillStyle = "#333";
    const across = Math.ceil((7 * `${this.view.columnLabel(right - 1)}`.length + 6) / this.width);
    for (let c = left; c < right; c += 1) {
      if (c % across === 0 && this.x(c) + this.width / 2 > this.side) {
        context.fillText(this.view.columnLabel(c), this.x(c) + this.width / 2, HEAD / 2);
      }
    }
    const down = Math.ceil(14 / this.height);
    for (let r = top; r < bottom; r += 1) {
      if (r % down === 0 && this.y(r) + this.height / 2 > HEAD) {
        context.fillText(this.view.rowLabel(r), this.side / 2, this.y(r) + this.height / 2);
      }
    }
    context.fillStyle = "#f3f4f6";
    context.fillRect(0, 0, this.side, HEAD);
    context.fillStyle = "#333";
    context.font = "11px ui-monospace, monospace";
    const {rowTitle, columnTitle} = this.view;
    context.fillText(
      [rowTitle, columnTitle].filter(Boolean).join("\\"),
      this.side / 2,
      HEAD / 2,
      this.side - 4,
    );
  }
}
