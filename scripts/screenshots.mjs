// @ts-check
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { isMain, root } from "./step.mjs";

/**
 * Takes pictures of the web page for the documentation, from real runs: `node scripts/screenshots.mjs [FOLDER]`, after
 * a build. Only the model is scripted. With a folder, pictures of every page in both widths and colour schemes are
 * written to it; without one, the two pictures of the documentation.
 */
async function main() {
  const wanted = process.argv[2];
  const { startProviderServer } = await import(join(root, "dist", "lib", "testing.js"));
  const provider = await startProviderServer(
    (/** @type {{ body: unknown }} */ request) => turnFor(JSON.stringify(request.body)),
    { record: false },
  );
  const place = realpathSync(mkdtempSync(join(tmpdir(), "subcrew-pictures-")));
  const work = join(place, "shop");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: work, stdio: "ignore" });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(place, "home"),
    SUBCREW_HOME: join(place, "state"),
    LANG: "C.UTF-8",
    ...provider.env,
  };
  mkdirSync(env.HOME);
  const command = join(root, "dist", "cli", "main.js");
  const run = async (/** @type {string[]} */ ...args) => {
    const done = await promisify(execFile)(process.execPath, [command, ...args], { cwd: work, env }).catch(
      (error) => error,
    );
    return String(done.stdout);
  };
  const idOf = (/** @type {string} */ printed) => JSON.parse(printed).id;
  const allowed = ["--permission-mode", "bypass", "--sandbox", "off"];
  await run(
    "parallel",
    "docs@explore=Which pages of the documentation are out of date?",
    "tests@explore=Which modules have no tests?",
    "deps@explore=Which dependencies are unused?",
    "--name",
    "Survey of the shop",
    "--model",
    "claude-sonnet-5",
  );
  await run(
    "race",
    "--agents",
    "general",
    "--models",
    "claude-haiku-4-5,gpt-5.4-mini",
    "Name the riskiest function of the cart.",
    "--name",
    "Riskiest function",
  );
  await run(
    "run",
    "general",
    "Round the total to cents.",
    "--name",
    "Round the total",
    "--model",
    "claude-sonnet-5",
    ...allowed,
  );
  await run(
    "run",
    "general",
    "Fail, please.",
    "--name",
    "Migrate the orders table",
    "--model",
    "claude-haiku-4-5",
    "--max-turns",
    "1",
  );
  const team = idOf(
    await run(
      "team",
      "--input",
      "team.json",
      "--name",
      "Release 2.0",
      "--bg",
      "--json",
      "--model",
      "claude-sonnet-5",
      ...allowed,
    ),
  );
  await run(
    "run",
    "general",
    "Describe the cart in the readme.",
    "--name",
    "Readme of the cart",
    "--bg",
    "--json",
    "--model",
    "claude-sonnet-5",
    "--permission-mode",
    "default",
  );
  const server = spawn(process.execPath, [command, "web"], { cwd: work, env });
  await new Promise((done) => server.stderr.on("data", (chunk) => String(chunk).includes("Ctrl-C") && done(undefined)));
  const path = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  const browser = await chromium.launch({
    executablePath: path,
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  try {
    await run("wait", team, "--until", "question");
    const listed = JSON.parse(await run("ps", "--all", "--json"));
    const named = (/** @type {string} */ wantedName) =>
      listed.find((/** @type {{name: string}} */ { name }) => name === wantedName).id;
    const survey = named("Survey of the shop");
    const readme = named("Readme of the cart");
    await run("wait", readme, "--until", "question");
    const pages = {
      runs: "#/runs",
      needs: "#/needs",
      run: `#/run/${team}/${encodeURIComponent("changelog.1/work")}`,
      graph: `#/run/${team}?view=graph`,
      timeline: `#/run/${survey}/tests?view=timeline&tab=cost`,
      events: `#/run/${survey}?view=events`,
      definition: `#/run/${survey}/docs?tab=definition`,
      compare: `#/compare?a=${named("Riskiest function")}&b=${named("Round the total")}`,
      changes: `#/run/${named("Round the total")}?tab=changes`,
      agents: "#/agents/explore",
      start: "#/start/team",
      cost: "#/cost",
    };
    for (const [scheme, width] of /** @type {const} */ ([
      ["light", 1280],
      ["dark", 1280],
      ["light", 390],
      ["dark", 390],
    ])) {
      if (wanted === undefined && width === 390) continue;
      const context = await browser.newContext({
        viewport: { width, height: width === 390 ? 844 : 800 },
        colorScheme: scheme,
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      page.on("pageerror", (error) => process.stderr.write(`${error.message}\n`));
      await page.goto((await run("web")).trim().split("\n").at(-1) ?? "");
      await page.locator("header.bar").waitFor();
      for (const [name, hash] of Object.entries(pages)) {
        if (wanted === undefined && !(name === "run" && scheme === "light") && !(name === "needs" && scheme === "dark"))
          continue;
        await page.evaluate((to) => void (location.hash = to), hash);
        await page.locator("main h1").first().waitFor();
        await page.locator(".wait").first().waitFor({ state: "detached" });
        await page.waitForTimeout(500);
        const file =
          wanted === undefined
            ? join(root, "docs", "pictures", `web-${name}-${scheme}.png`)
            : join(wanted, `${name}-${width}-${scheme}.png`);
        mkdirSync(dirname(file), { recursive: true });
        await page.screenshot({ path: file });
      }
      await context.close();
    }
  } finally {
    await browser.close();
    for (const { id } of JSON.parse((await run("ps", "--json")) || "[]")) await run("kill", id);
    server.kill("SIGINT");
    await provider.close();
    rmSync(place, { recursive: true, force: true });
  }
}

const files = {
  "README.md": "# Shop\n\nA small shop.\n",
  "src/cart.js":
    "export function total(items) {\n  return items.reduce((sum, item) => sum + item.price * item.count, 0);\n}\n",
  "src/orders.js": "export const orders = [];\n",
  "docs/install.md": "# Install\n\nnpm install shop\n",
  "team.json": JSON.stringify({
    team: {
      objective: "Release version 2.0 of the shop",
      members: [
        { role: "reader", agent: "explore" },
        { role: "writer", agent: "general" },
      ],
      tasks: [
        { id: "changes", task: "List what changed since 1.0.", assignee: "reader" },
        { id: "risks", task: "List what could break for users.", assignee: "reader" },
        {
          id: "changelog",
          task: "Write the changelog of 2.0.",
          assignee: "writer",
          depends: ["changes"],
          review: { reviewer: "reader" },
        },
        { id: "upgrade", task: "Write the upgrade guide.", assignee: "writer", depends: ["changes", "risks"] },
        {
          id: "announce",
          task: "Announce the release.",
          assignee: "writer",
          depends: ["changelog", "upgrade"],
          requiresApproval: true,
        },
        { id: "publish", task: "Publish it.", assignee: "writer", depends: ["announce"] },
      ],
    },
  }),
};

/** @param {string} body */
function turnFor(body) {
  const usage = { input: 4_000 + (body.length % 9_000), output: 300 + (body.length % 700), cacheRead: 12_000 };
  const results = body.match(/"tool_result"|"role":"tool"|"function_call_output"/g)?.length ?? 0;
  const worked = results > 0;
  if (body.includes("Fail, please")) return { calls: [{ name: "read_file", input: { path: "src/orders.js" } }], usage };
  if (body.includes("Round the total"))
    return results === 0
      ? { text: "I read the cart.", calls: [{ name: "read_file", input: { path: "src/cart.js" } }], usage }
      : results > 1
        ? { text: "`total` now rounds to cents, so sums such as 0.1 + 0.2 are shown as **0.30**.", usage }
        : {
            text: "The sum is not rounded. I change that.",
            calls: [
              {
                name: "edit_file",
                input: {
                  path: "src/cart.js",
                  oldText: "  return items.reduce((sum, item) => sum + item.price * item.count, 0);",
                  newText:
                    "  const sum = items.reduce((all, item) => all + item.price * item.count, 0);\n  return Math.round(sum * 100) / 100;",
                },
              },
            ],
            usage,
          };
  if (body.includes("Describe the cart") && !worked)
    return { text: "I read the readme.", calls: [{ name: "read_file", input: { path: "README.md" } }], usage };
  if (body.includes("Describe the cart"))
    return {
      text: "I add a section about the cart.",
      calls: [
        {
          name: "edit_file",
          input: {
            path: "README.md",
            oldText: "A small shop.",
            newText: "A small shop.\n\n## Cart\n\n`total(items)` adds up price times count, rounded to cents.",
          },
        },
      ],
      usage,
    };
  if (!worked)
    return {
      text: "I look at the sources first.",
      calls: [
        { name: "list_files", input: { path: "src" } },
        { name: "read_file", input: { path: "src/cart.js" } },
      ],
      usage,
      delayMs: 150 + (body.length % 600),
    };
  if (body.includes("review") && body.includes("changelog"))
    return { text: "APPROVED: complete and in the right order.", usage };
  const text = answers.find(([task]) => body.includes(task))?.[1] ?? survey;
  return { text, usage, delayMs: 200 + (body.length % 900) };
}

/**
 * The answers of the team's tasks, by their prompt. A later task also gets the answers of earlier ones, so it comes
 * first.
 *
 * @type {readonly (readonly [string, string])[]}
 */
const answers = [
  [
    "Announce the release.",
    "I post the changelog and the upgrade guide:\n\n1. a short note in `README.md`\n2. the full text in `docs/releases/2.0.md`\n\nBoth link to the upgrade guide.",
  ],
  [
    "Write the upgrade guide.",
    "Upgrading takes two steps.\n\n1. `npm install shop@2`\n2. Replace `cart.sum` by `total(cart)`.",
  ],
  [
    "Write the changelog of 2.0.",
    "## 2.0\n\n- `total` rounds to cents, so **0.1 + 0.2** is shown as `0.30`.\n- Orders cannot be changed after they were placed.\n\n| function | before | now |\n|---|---|---|\n| `total` | floating point | cents |\n| `orders` | a mutable list | frozen |\n\n```js\nexport const orders = Object.freeze([]);\n```",
  ],
  [
    "List what could break for users.",
    "Two things could break:\n\n- code that pushes into `orders`\n- tests that compare totals with all their digits",
  ],
  [
    "List what changed since 1.0.",
    "Three changes since 1.0: totals are rounded, orders are frozen, and the installation page is new.",
  ],
];
const survey =
  "Two findings, none of them urgent.\n\n1. `src/cart.js` sums prices as floating point numbers.\n2. `src/orders.js` exports a **mutable** list.\n\n| file | tests | last change |\n|---|---|---|\n| `src/cart.js` | none | 3 weeks ago |\n| `src/orders.js` | none | 5 weeks ago |\n\nThe first one is what a user notices: a cart of 0.1 and 0.2 shows `0.30000000000000004`.";

if (isMain(import.meta.url)) await main();
