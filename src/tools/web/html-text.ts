import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { onAbort } from "../../runtime/async/on-abort.ts";

/** The maximum length of a page; longer pages are truncated before they are parsed. */
const MOST_CHARS = 2_000_000;
const TIME_MS = 8_000;

/**
 * Converts a page to text: headings, lists, tables and links, without scripts and hidden elements. It runs in its own
 * thread, since a hostile page can take minutes to parse.
 */
export async function htmlText(html: string, baseUrl: string, signal: AbortSignal): Promise<string> {
  const workerData = {
    library: createRequire(import.meta.url).resolve("html-to-text"),
    html: html.slice(0, MOST_CHARS),
    baseUrl,
  };
  const worker = new Worker(PROGRAM, {
    eval: true,
    workerData,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const timer = setTimeout(() => void worker.terminate(), TIME_MS);
  const stop = (): void => void worker.terminate();
  const release = onAbort(signal, stop);
  try {
    return await new Promise<string>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("the page could not be read in time")));
    });
  } finally {
    clearTimeout(timer);
    release();
    await worker.terminate();
  }
}

const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { convert } = require(workerData.library);
const skip = (selector) => ({ selector, format: "skip" });
const absolute = (path) => {
  if (path.length > 2000 || !URL.canParse(path, workerData.baseUrl)) return "";
  const { href, protocol } = new URL(path, workerData.baseUrl);
  return ["http:", "https:", "mailto:", "tel:"].includes(protocol) ? href : "";
};
const title = /<title[^>]{0,200}>([^<]{1,500})/i.exec(workerData.html.slice(0, 50000));
const page = convert(workerData.html, {
  wordwrap: false,
  limits: { maxInputLength: 10000000, maxDepth: 200 },
  selectors: [
    { selector: "a", options: {
      hideLinkHrefIfSameAsText: true,
      noAnchorUrl: true,
      linkBrackets: ["(", ")"],
      pathRewrite: absolute,
    } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
    ...["img", "svg", "template", "noscript", "iframe", "object", "select", "textarea", "canvas"].map(skip),
    ...["[hidden]", "[aria-hidden=true]", '[style*="display:none"]', '[style*="display: none"]', '[style*="visibility:hidden"]', '[style*="visibility: hidden"]'].map(skip),
  ],
});
const name = title ? convert(title[1], { wordwrap: false }).trim() : "";
const whole = name && !page.startsWith(name) ? name + "\\n\\n" + page : page;
parentPort.postMessage(whole.replace(/\\n{3,}/g, "\\n\\n"));
`;
