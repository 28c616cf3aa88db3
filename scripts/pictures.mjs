// @ts-check
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./step.mjs";

/**
 * Makes the pictures of the documents from real runs: `node scripts/pictures.mjs`, after a build. The command runs on a
 * terminal of its own (`script` of util-linux), and what is on that terminal afterwards is drawn.
 */
const COLUMNS = 120;
const COLORS = ["#6e7681", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#f0f6fc"];

/** @type {Record<string, string>} */
const project = {
  "src/login.ts": "export function checkPassword(given: string): boolean {\n  return given !== '';\n}\n",
  "src/prices.ts": "import { checkPassword } from './login.ts';\n\nexport const discount = 0.2;\nvoid checkPassword;\n",
  "README.md": "# Shop\n\nSells books.\n",
};

/** @type {Record<string, string>} */
const pictures = {
  terminal: 'subcrew parallel where@explore="Where is discount defined?" who@explore="Who uses checkPassword?"',
};

const folder = mkdtempSync(join(tmpdir(), "subcrew-pictures-"));
try {
  for (const [name, text] of Object.entries(project)) {
    mkdirSync(dirname(join(folder, "shop", name)), { recursive: true });
    writeFileSync(join(folder, "shop", name), text);
  }
  mkdirSync(join(root, "docs", "pictures"), { recursive: true });
  for (const [name, line] of Object.entries(pictures))
    writeFileSync(join(root, "docs", "pictures", `${name}.svg`), await picture(line));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} line */
async function picture(line) {
  const command = line.replace(/^subcrew/, `"${process.execPath}" "${join(root, "dist", "cli", "main.js")}"`);
  const said = execFileSync("script", ["-qec", `stty cols ${COLUMNS} rows 50; ${command}`, "/dev/null"], {
    cwd: join(folder, "shop"),
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder, TERM: "xterm-256color", LANG: "C.UTF-8", COLUMNS: String(COLUMNS) },
  });
  const { default: headless } = await import("@xterm/headless");
  const terminal = new headless.Terminal({ cols: COLUMNS, rows: 50, allowProposedApi: true });
  await new Promise((resolve) => terminal.write(`\x1b[1m$ ${line}\x1b[0m\r\n${said}`, () => resolve(undefined)));
  return svg(terminal.buffer.active);
}

/** @param {import("@xterm/headless").IBuffer} buffer */
function svg(buffer) {
  const rows = Array.from({ length: buffer.length }, (_, y) => row(buffer, y));
  while (rows.length > 0 && rows.at(-1)?.text.trim() === "") rows.pop();
  const height = rows.length * 18 + 24;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${COLUMNS * 8.43 + 24} ${height}" role="img" aria-label="subcrew on a terminal">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="#e6edf3" style="white-space:pre">
${rows.map(({ spans }, y) => `<text x="12" y="${y * 18 + 26}">${spans}</text>`).join("\n")}
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
  const close = () => {
    if (open !== "") spans += style === "" ? escaped(open) : `<tspan ${style}>${escaped(open)}</tspan>`;
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
    if (next !== style) close();
    style = next;
    open += cell.getChars() || " ";
    text += cell.getChars();
  }
  open = style === "" ? open.trimEnd() : open;
  close();
  return { spans, text };
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
