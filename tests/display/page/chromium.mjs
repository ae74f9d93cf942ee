// A headless Chromium, driven over its debugging pipe: no port, no network, no driver to install.
//
//   const browser = await Chromium.start("/usr/bin/chromium");
//   await browser.open("file:///tmp/page.html");
//   await browser.value("document.title");
//   browser.close();
import {spawn} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--hide-scrollbars",
  "--remote-debugging-pipe",
  "--window-size=1400,1000",
  "--force-device-scale-factor=1",
];

export class Chromium {
  static async start(program) {
    const browser = new Chromium();
    browser.profile = mkdtempSync(join(tmpdir(), "layout-page-"));
    browser.process = spawn(program, [...FLAGS, `--user-data-dir=${browser.profile}`], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    browser.waiting = new Map();
    browser.problems = [];
    browser.requests = [];
    browser.number = 0;
    browser.listen(browser.process.stdio[4]);
    const {targetInfos} = await browser.send("Target.getTargets");
    const page = targetInfos.find((target) => target.type === "page");
    const {sessionId} = await browser.send("Target.attachToTarget", {
      targetId: page.targetId,
      flatten: true,
    });
    browser.session = sessionId;
    for (const domain of ["Runtime", "Page", "Log", "Network"])
      await browser.send(`${domain}.enable`);
    return browser;
  }

  listen(stream) {
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (part) => {
      text += part;
      const messages = text.split("\0");
      text = messages.pop();
      for (const message of messages) this.receive(JSON.parse(message));
    });
  }

  receive({id, result, error, method, params}) {
    if (id !== undefined) {
      const {resolve, reject} = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    } else if (method === "Page.loadEventFired") this.loaded?.();
    else if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    else if (method === "Runtime.exceptionThrown") {
      this.problems.push(
        params.exceptionDetails.exception?.description ?? params.exceptionDetails.text,
      );
    } else if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) {
      this.problems.push(params.entry.text);
    } else if (
      method === "Runtime.consoleAPICalled" &&
      ["error", "warning"].includes(params.type)
    ) {
      this.problems.push(params.args.map((one) => one.value ?? one.description).join(" "));
    }
  }

  send(method, params = {}) {
    this.number += 1;
    const message = {id: this.number, method, params};
    if (this.session) message.sessionId = this.session;
    return new Promise((resolve, reject) => {
      this.waiting.set(message.id, {resolve, reject});
      this.process.stdio[3].write(`${JSON.stringify(message)}\0`);
    });
  }

  async open(url) {
    const loaded = new Promise((resolve) => {
      this.loaded = resolve;
    });
    await this.send("Page.navigate", {url});
    await loaded;
    await this.settle();
  }

  /** What an expression of the page is; promises are waited for. */
  async value(expression) {
    const {result, exceptionDetails} = await this.send("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Waits for two frames: what was asked for is then drawn. */
  async settle() {
    await this.value(
      "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))",
    );
  }

  async key(key, modifiers = 0) {
    const text = key === "Enter" ? "\r" : key === " " ? " " : undefined;
    const event = {key, code: key === " " ? "Space" : key, modifiers};
    await this.send("Input.dispatchKeyEvent", {type: "keyDown", text, ...event});
    await this.send("Input.dispatchKeyEvent", {type: "keyUp", ...event});
    await this.settle();
  }

  async click(x, y) {
    const event = {x, y, button: "left", clickCount: 1};
    await this.send("Input.dispatchMouseEvent", {type: "mousePressed", ...event});
    await this.send("Input.dispatchMouseEvent", {type: "mouseReleased", ...event});
    await this.settle();
  }

  /** The whole page as a PNG, in base64. */
  async screenshot() {
    const {data} = await this.send("Page.captureScreenshot", {captureBeyondViewport: true});
    return data;
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.session = undefined;
    await Promise.race([this.send("Browser.close"), ended]);
    await ended;
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}
