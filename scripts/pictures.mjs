// @ts-check
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { answer, team } from "./pictures-script.mjs";
import { root } from "./step.mjs";

/**
 * Makes the pictures of the documents from real runs: `node scripts/pictures.mjs`, after a build. The command runs on a
 * terminal of its own (tmux), and what is on that terminal is drawn. It uses a simulated model provider on this
 * machine, which answers as pictures-script.mjs says.
 */
const COLUMNS = 120;
const COLORS = ["#6e7681", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#f0f6fc"];

/** @type {Record<string, string>} */
const project = {
  "src/login.ts": "export function checkPassword(given: string): boolean {\n  return given !== '';\n}\n",
  "src/prices.ts": "import { checkPassword } from './login.ts';\n\nexport const discount = 0.1;\nvoid checkPassword;\n",
  "README.md": "# Shop\n\nSells books.\n",
};

const folder = mkdtempSync(join(tmpdir(), "subcrew-pictures-"));
try {
  for (const [name, text] of Object.entries(project)) {
    mkdirSync(dirname(join(folder, "shop", name)), { recursive: true });
    writeFileSync(join(folder, "shop", name), text);
  }
  mkdirSync(join(root, "docs", "pictures"), { recursive: true });
  await screens();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} text */
async function drawn(text) {
  const { default: headless } = await import("@xterm/headless");
  const terminal = new headless.Terminal({ cols: COLUMNS, rows: 50, allowProposedApi: true });
  await new Promise((resolve) => terminal.write(text, () => resolve(undefined)));
  return svg(terminal.buffer.active);
}

/** The pictures: the chat, and the screen of a team of twelve tasks with an open question. */
async function screens() {
  /** @type {typeof import("../src/doors/testing.ts")} */
  const { startProviderServer } = await import(join(root, "dist", "lib", "testing.js"));
  const server = await startProviderServer(({ body }) => answer(body));
  writeFileSync(join(folder, "shop", "team.json"), JSON.stringify(team));
  const main = `"${process.execPath}" "${join(root, "dist", "cli", "main.js")}"`;
  /** @param {readonly string[]} args */
  const tmux = (...args) =>
    execFileSync("tmux", ["-L", `pictures-${process.pid}`, "-f", "/dev/null", ...args], {
      cwd: join(folder, "shop"),
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: folder, LANG: "C.UTF-8", ...server.env },
    });
  /** @param {RegExp} text */
  const until = async (text) => {
    for (let at = 0; at < 600; at++, await sleep(100)) if (text.test(tmux("capture-pane", "-p", "-t", "s"))) return;
    throw new Error(`the screen never showed ${text}:\n${tmux("capture-pane", "-p", "-t", "s")}`);
  };
  /** @param {string} words @param {number} rows @param {string} name @param {() => Promise<void>} act */
  const screen = async (words, rows, name, act) => {
    tmux("new-session", "-d", "-s", "s", "-x", String(COLUMNS), "-y", String(rows), `${main} ${words}`);
    try {
      await act();
      const said = tmux("capture-pane", "-e", "-p", "-t", "s").trimEnd().replaceAll("\n", "\r\n");
      writeFileSync(join(root, "docs", "pictures", `${name}.svg`), await drawn(said));
    } finally {
      tmux("kill-session", "-t", "s");
    }
  };
  const model = "--model anthropic/claude-sonnet-5";
  try {
    await screen(`chat ${model}`, 34, "chat", async () => {
      await until(/exits/);
      tmux("send-keys", "-t", "s", "Give regular customers 20 % off, in the code and in the README", "Enter");
      await until(/Allow this call/);
      tmux("send-keys", "-t", "s", "y", "Enter");
      await until(/Allow this call[^]*README|README[^]*Allow this call/);
    });
    tmux("new-session", "-d", "-s", "bg", `${main} team --input team.json ${model} --concurrency 6 --bg; sleep 600`);
    await untilStarted(tmux);
    await screen("watch", 30, "watch", async () => {
      await until(/NEEDS YOU[^]*FAILED[^]*WORKING[^]*WAITING[^]*DONE/);
      await sleep(3_000);
    });
  } finally {
    tmux("kill-server");
    await server.close();
  }
}

/** Waits until the team was started. @param {(...args: string[]) => string} tmux */
async function untilStarted(tmux) {
  for (let at = 0; at < 600; at++, await sleep(100))
    if (/run_\w{12}/.test(tmux("capture-pane", "-p", "-t", "bg"))) return;
}

/** @param {import("@xterm/headless").IBuffer} buffer */
function svg(buffer) {
  const rows = Array.from({ length: buffer.length }, (_, y) => row(buffer, y));
  while (rows.length > 0 && rows.at(-1)?.text.trim() === "") rows.pop();
  const height = rows.length * 18 + 24;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${COLUMNS * 8.43 + 24} ${height}" role="img" aria-label="subcrew on a terminal">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="#e6edf3" xml:space="preserve">
${rows.map(({ spans }, y) => `<text y="${y * 18 + 26}">${spans}</text>`).join("\n")}
</g>
</svg>
`;
}

/**
 * @param {import("@xterm/headless").IBuffer} buffer
 * @param {number} y
 */
function row(buffer, y) {
  const line = buffer.getLine(y);
  let [spans, text, style, open] = ["", "", "", ""];
  let from = 0;
  const close = () => {
    // Every piece of text has its own position, because fonts differ in width and spaces may be collapsed.
    const text = open.trimEnd();
    if (text !== "") {
      const x = 12 + (from + text.length - text.trimStart().length) * 8.43;
      spans += `<tspan x="${x.toFixed(1)}"${style === "" ? "" : ` ${style}`}>${escaped(text.trimStart())}</tspan>`;
    }
    open = "";
  };
  for (let x = 0; line && x < line.length; x++) {
    const cell = line.getCell(x);
    if (!cell) continue;
    const color = cell.isFgPalette() ? COLORS[cell.getFgColor() % 8] : undefined;
    const next = [
      color === undefined ? "" : `fill="${color}"`,
      cell.isBold() ? 'font-weight="bold"' : "",
      cell.isDim() ? 'opacity="0.6"' : "",
    ]
      .filter(Boolean)
      .join(" ");
    // Two spaces begin another piece, so that columns stay aligned.
    if (next !== style || (open.endsWith("  ") && cell.getChars().trim() !== "")) close();
    if (open === "") from = x;
    style = next;
    open += cell.getChars() || " ";
    text += cell.getChars();
  }
  close();
  return { spans, text };
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
