import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { needsTimeout } from "../../needs.ts";
import { script } from "../command.ts";
import { openChromium, type Served, serve } from "./lab.ts";

/** Text that would act in a page that reads it as HTML, a script, a link or an image. */
const hostile = [
  "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
  "[click](javascript:document.title='owned') ![pixel](http://203.0.113.9/pixel.png)",
  "</pre></div><iframe src='http://203.0.113.9/'></iframe>",
  "\u001b]0;owned\u0007 \u202e txt.exe",
].join("\n\n");

const freely = ["--permission-mode", "bypass", "--sandbox", "off"];
const untilThere = (file: string, then = ":"): object => ({
  calls: [
    { name: "bash", input: { command: `until test -e ${file}; do sleep 0.05; done; ${then}`, timeoutMs: 600_000 } },
  ],
});
const files = {
  "answer.json": script({ text: "## The **answer**\n\n- one\n- `two`", usage: { input: 900, output: 100 } }),
  "hostile.json": script(
    { calls: [{ name: "bash", input: { command: `printf '%s' ${JSON.stringify(hostile)}` } }] },
    { text: hostile },
  ),
  "held.json": script(untilThere("go"), "It was let go."),
  "steps.json": script(untilThere("woken", "touch went"), untilThere("go"), "It was let go."),
  "hears.json": script(untilThere("heard"), {
    error: { code: "MODEL_UNKNOWN", message: "It broke.", retryable: false },
  }),
  "edit.json": script(
    { calls: [{ name: "write_file", input: { path: "made.txt", content: "one line\n" } }] },
    "It is written.",
  ),
  "team.json": JSON.stringify({
    team: {
      tasks: [
        { id: "page", task: "Write it.", requiresApproval: true, tools: ["read_file"] },
        { id: "ship", task: "Ship it.", depends: ["page"] },
      ],
    },
  }),
};

let browser: Browser | undefined;
let missing: string | undefined;
let served: Served;
let page: Page;
let faults: readonly string[];

beforeAll(async () => {
  const opened = await openChromium();
  if ("missing" in opened) {
    missing = opened.missing;
    return;
  }
  browser = opened;
  served = await serve(browser, files);
  ({ page, faults } = await served.tab({ clock: true }));
}, needsTimeout);
afterAll(async () => {
  await served?.close();
  await browser?.close();
});

const model = (file: string): string[] => ["--model", `scripted:${file}.json`];
const background = async (...words: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await served.place.run([...words, "--bg", "--json"], { shared: false });
  if (stdout === "") throw new Error(stderr);
  return (JSON.parse(stdout) as { id: string }).id;
};
const letGo = (): void => writeFileSync(join(served.place.workspace, "go"), "");
const at = (hash: string): Promise<void> => page.evaluate((to) => void (location.hash = to), hash);
const chip = (text: string) => page.locator(".run-head .chip", { hasText: text });

test("an empty list of runs says how to start one", async (context) => {
  if (missing !== undefined) context.skip(missing);
  await page.getByText("No runs yet").waitFor();
  expect(await page.locator(".empty code").textContent()).toContain("subcrew run explore");
});

test("a run that is started from the form shows its plan first, is watched until it ends, and its transcript opens", async (context) => {
  if (missing !== undefined) context.skip(missing);
  await page.getByRole("link", { name: "Start a run" }).click();
  await page.getByRole("button", { name: "chain" }).click();
  const tasks = page.getByLabel(/^task \(needed\)/);
  await tasks.nth(0).fill("Say something.");
  await tasks.nth(1).fill("Repeat: {previous}");
  const models = page.getByLabel(/^model/);
  for (const index of [0, 1]) await models.nth(index).fill("scripted:answer.json");
  await page.locator(".plan-pane .box").nth(1).waitFor();
  expect(await page.locator(".plan-pane .box").count()).toBe(2);
  await page.getByRole("button", { name: "Start the run" }).click();
  await chip("done").waitFor();
  await page.locator(".tree .task-row .name", { hasText: "Say something." }).click();
  await page.locator(".entry.turn h3", { hasText: "answer" }).first().waitFor({ state: "attached" });
  expect(await page.locator(".entry.turn li").allTextContents()).toEqual(["one", "two"]);
  expect(await page.locator(".entry.prompt").first().textContent()).toContain("Say something.");
});

test("a deep link opens the same task and turn, and the command can be copied", async (context) => {
  if (missing !== undefined) context.skip(missing);
  await page.locator(".entry.turn h3 a").first().click();
  const address = page.url();
  expect(address).toMatch(/#\/run\/run_\w+\/[^?]+\?turn=1$/);
  await page.reload();
  await page.locator("#turn-1").waitFor();
  await page.getByRole("button", { name: "Copy command" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^subcrew show run_/);
});

test("an approval is answered in place and the run continues", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const id = await background("team", "--input", "team.json", ...model("answer"));
  await at("#/needs");
  const card = page.locator(".need", { hasText: "answer" }).first();
  await card.getByRole("button", { name: "Approve" }).click();
  await at(`#/run/${id}`);
  await chip("done").waitFor();
  const { stdout } = await served.place.run(["logs", id, "--json"], { shared: false });
  expect(stdout).toContain('"by":"the page"');
});

test("a call that needs permission is shown as a diff, and a denial reaches the agent", async (context) => {
  if (missing !== undefined) context.skip(missing);
  await background("run", "general", "Write a file.", ...model("edit"), "--permission-mode", "default");
  await at("#/needs");
  const card = page.locator(".need").first();
  await card.locator("pre.diff .added", { hasText: "+one line" }).waitFor();
  const tops = await card
    .locator("pre.diff span")
    .evaluateAll((lines) => lines.map((line) => line.getBoundingClientRect().top));
  expect(tops).toEqual([...new Set(tops)].toSorted((a, b) => a - b)); // each line is shown below the previous one
  await card.getByLabel("Your words, if any").fill("Not there.");
  await card.getByRole("button", { name: "Deny" }).click();
  await page.getByText("Nothing waits for you").waitFor();
});

test("output of a model that contains HTML, scripts and links stays text", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const { stdout } = await served.place.run(
    [
      "run",
      "general",
      hostile,
      ...model("hostile"),
      "--permission-mode",
      "bypass",
      "--sandbox",
      "off",
      "--name",
      "<b>hostile</b>",
      "-o",
      "json",
    ],
    { shared: false },
  );
  expect(stdout).toContain("owned");
  await at("#/runs");
  await page.locator(".run-row .name", { hasText: "<b>hostile</b>" }).first().click();
  await page.locator(".tree .all-rows .task-row").first().click();
  await page.locator(".entry.call summary").first().click();
  for (const tab of ["changes", "prompt", "definition", "cost", "warnings", "transcript"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.locator(".detail-body .wait").waitFor({ state: "detached" });
  }
  await page.locator(".entry.turn", { hasText: "onerror" }).first().waitFor();
  expect(await page.locator("main iframe, main img, main script").count()).toBe(0);
  expect(await page.locator('main a[href^="javascript" i]').count()).toBe(0);
  expect(await page.title()).not.toContain("owned");
  expect(faults).toEqual([]);
});

test("a run is paused and resumed from the page, and another one is cancelled", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const id = await background(
    "run",
    "bash",
    "Wait.",
    ...model("held"),
    "--permission-mode",
    "bypass",
    "--sandbox",
    "off",
  );
  await at(`#/run/${id}`);
  await chip("running").waitFor();
  const actions = page.locator(".actions");
  await actions.getByRole("button", { name: "pause" }).click();
  await chip("paused").waitFor();
  await actions.getByRole("button", { name: "resume" }).click();
  await chip("done").waitFor(); // an interrupted command is not repeated
  await at(
    `#/run/${await background("run", "bash", "Wait.", ...model("held"), "--permission-mode", "bypass", "--sandbox", "off")}`,
  );
  await chip("running").waitFor();
  await actions.getByRole("button", { name: "cancel" }).click();
  await page.getByRole("button", { name: "Yes, cancel" }).click();
  await chip("cancelled").waitFor();
});

test("the page continues without a gap or a duplicate after sleep and after the server was killed, and the run is not affected", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const id = await background("parallel", 'bash="Wait."', 'explore="x"', ...model("steps"), ...freely);
  await at(`#/run/${id}?view=events`);
  await page.locator(".log-row", { hasText: "tool.started" }).first().waitFor();
  served.freeze(true); // the connection looks alive, but nothing arrives
  await page.clock.fastForward(120_000); // the lid of the laptop was closed for two minutes
  writeFileSync(join(served.place.workspace, "woken"), "");
  await expect.poll(() => existsSync(join(served.place.workspace, "went")), { timeout: 60_000 }).toBe(true);
  served.freeze(false);
  await page.locator(".log-row", { hasText: "tool.ended" }).first().waitFor();
  await served.kill();
  await page.locator(".live.lost").waitFor();
  letGo();
  await served.place.run(["wait", id], { shared: false });
  await served.start();
  await chip("done").waitFor();
  await page.setViewportSize({ width: 1280, height: 4_000 });
  await page.locator(".log-row", { hasText: "run.ended" }).waitFor();
  const { stdout } = await served.place.run(["logs", id, "--json"], { shared: true });
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { seq?: number });
  const seen = page.locator(".log-row");
  expect(await seen.evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset["seq"])))).toEqual(
    lines.flatMap(({ seq }) => (seq === undefined ? [] : [seq])),
  );
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("a message reaches a running task, a failed task is retried, and an ended task is continued", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const id = await background("run", "bash", "Wait.", ...model("hears"), ...freely, "--name", "Hears");
  await at(`#/run/${id}`);
  await page.locator(".tree .all-rows .task-row").first().click();
  const actions = page.locator(".actions");
  await page.locator(".entry.call").first().waitFor();
  await actions.getByRole("button", { name: "message" }).click();
  await page.getByLabel("Message to the task").fill("Use <b>less</b>.");
  await actions.getByRole("button", { name: "Send" }).click();
  await page.locator(".toast span").first().waitFor();
  writeFileSync(join(served.place.workspace, "heard"), "");
  await page.locator(".entry.message", { hasText: "Use <b>less</b>." }).waitFor();
  await chip("failed").waitFor();
  writeFileSync(
    join(served.place.workspace, "hears.json"),
    script(...Array.from({ length: 6 }, () => "It worked this time.")),
  );
  await actions.getByRole("button", { name: "retry" }).click();
  await chip("done").waitFor();
  await actions.getByRole("button", { name: "continue" }).click();
  await page.getByLabel("What the task should do next").fill("Say it again.");
  await actions.getByRole("button", { name: "Continue", exact: true }).click();
  await page.waitForFunction((old) => !location.hash.includes(old), id);
  await page.locator(".entry.note", { hasText: id }).waitFor();
});

test("changes that are stored in a patch are shown and applied", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const { workspace } = served.place;
  for (const words of [
    ["init", "-q"],
    ["add", "team.json"],
    ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"],
  ])
    execFileSync("git", words, { cwd: workspace });
  const words = [
    "run",
    "general",
    "Write a file.",
    ...model("edit"),
    ...freely,
    "--isolation",
    "worktree",
    "--isolation-keep",
  ];
  const { stdout } = await served.place.run([...words, "-o", "json"], { shared: false });
  await at(`#/run/${(JSON.parse(stdout) as { id: string }).id}?tab=changes`);
  await page.locator("pre.diff .added", { hasText: "+one line" }).waitFor();
  await page.getByRole("button", { name: "Apply 1 file" }).click();
  await page.locator(".toast", { hasText: "1 applied" }).waitFor();
  expect(readFileSync(join(workspace, "made.txt"), "utf8")).toBe("one line\n");
});

test("the contenders of a race are compared, and runs are found by words, state and project", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const words = [
    "race",
    "--agents",
    "general",
    "--models",
    "scripted:answer.json,scripted:edit.json",
    "Say it.",
    "--name",
    "A race",
  ];
  await served.place.run([...words, ...freely], { shared: false });
  await at("#/runs?text=race");
  await page.locator(".run-row", { hasText: "A race" }).click();
  await page.getByRole("link", { name: "Compare the tasks of the race" }).click();
  await page.getByRole("row", { name: /^Model .*answer\.json.*edit\.json/ }).waitFor();
  await at("#/runs");
  const rows = page.locator(".run-row");
  await page.getByLabel("Search runs").fill("hostile");
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByLabel("Search runs").fill("");
  writeFileSync(
    join(served.place.workspace, "short.json"),
    script({ text: "", calls: [{ name: "list_files", input: {} }] }),
  );
  await served.place.run(["run", "general", "Look.", ...model("short")], { shared: false });
  await page.getByRole("button", { name: "failed" }).click();
  await expect
    .poll(() =>
      rows
        .locator(".chip")
        .allTextContents()
        .then((all) => [...new Set(all)]),
    )
    .toEqual(["failed"]);
  await page.getByRole("button", { name: "all", exact: true }).click();
  await page.getByLabel("Project").selectOption({ index: 1 });
  await expect.poll(() => rows.locator(".price").count()).toBeGreaterThan(3);
  expect(page.url()).toContain("project=");
});

test("two runs are compared side by side", async (context) => {
  if (missing !== undefined) context.skip(missing);
  await at("#/runs");
  const boxes = page.locator(".run-row input[type=checkbox]");
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await page.getByRole("link", { name: "Compare 2" }).click();
  await page.getByRole("row", { name: /^Turns/ }).waitFor();
  expect(await page.locator(".two .card").count()).toBeGreaterThanOrEqual(4);
});

test("agents are searched, explained and converted", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const folder = join(served.place.home, ".claude", "agents");
  await import("node:fs").then(({ mkdirSync }) => mkdirSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, "reader.md"),
    "---\nname: reader\ndescription: Reads everything.\ntools: Read, Grep\n---\nRead it.\n",
  );
  await at("#/agents");
  await page.getByLabel("Search agents").fill("everything");
  await page.locator(".agent-list a", { hasText: "reader" }).click();
  await page.getByRole("row", { name: /^tools .*read_file/ }).waitFor();
  await page.getByLabel("Dialect").selectOption("gemini");
  await page.locator("pre", { hasText: "Read it." }).waitFor();
});

test("the cost page has a bar and a row for each agent", async (context) => {
  if (missing !== undefined) context.skip(missing);
  await at("#/cost");
  await page.locator("svg.plot rect").first().waitFor();
  await page.getByRole("row", { name: /general/ }).waitFor();
});

test("everything can be reached with only the keyboard", async (context) => {
  if (missing !== undefined) context.skip(missing);
  await at("#/runs");
  await page.locator(".run-row").first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  await page.locator("[role=grid] .run-row").first().waitFor(); // the heading is shown before the runs
  for (
    let step = 0;
    step < 40 && !(await page.evaluate(() => document.activeElement?.getAttribute("role") === "grid"));
    step += 1
  )
    await page.keyboard.press("Tab");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.locator(".run-head").waitFor();
  await page.locator("[role=treegrid] .task-row").first().waitFor();
  for (
    let step = 0;
    step < 40 && !(await page.evaluate(() => document.activeElement?.getAttribute("role") === "treegrid"));
    step += 1
  )
    await page.keyboard.press("Tab");
  // The second key is pressed before the page has drawn the change of the first one.
  await page.evaluate(() => {
    for (const key of ["ArrowDown", "2"])
      document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
  await page.locator(".graph .box.selected").waitFor();
  await page.keyboard.press("3");
  await page.locator(".bar-row.selected").waitFor();
  await page.keyboard.press("1");
  await page.locator(".task-row.selected").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
});

test("no page has a serious accessibility fault, at full width and on a phone, light and dark", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const found: string[] = [];
  const [first] = await served.place
    .run(["runs", "--json"])
    .then(({ stdout }) => JSON.parse(stdout) as { id: string; tasks: string[] }[]);
  for (const [width, dark] of [
    [1280, false],
    [390, true],
  ] as const) {
    const tab = await served.tab({ width, dark, height: 844 });
    // on a phone, this heading is the first one
    if (width === 390) await tab.page.getByRole("heading", { name: "Needs you" }).waitFor();
    const run = `#/run/${first!.id}`;
    const always = ["#/runs", "#/start/team", "#/cost", `${run}/${first!.tasks[0]!}`];
    for (const hash of dark
      ? always
      : [...always, "#/needs", "#/agents/explore", run, `${run}?view=graph`, `${run}?view=timeline`]) {
      await tab.page.evaluate((to) => void (location.hash = to), hash);
      await tab.page.locator("main h1").first().waitFor();
      await tab.page.locator(".wait").first().waitFor({ state: "detached" });
      const wide = await tab.page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) found.push(`${width} ${hash}: the page is ${wide} wide`);
      // The page allows no script from other origins, so the checker is injected separately.
      await tab.page.evaluate(AxeBuilder.source);
      const faulty = await tab.page.evaluate(async () => {
        const axe = (
          globalThis as unknown as {
            axe: {
              run(
                options: object,
              ): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
            };
          }
        ).axe;
        const { violations } = await axe.run({ iframes: false, resultTypes: ["violations"] });
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
      });
      found.push(...faulty.map((text) => `${width} ${hash} ${text}`));
    }
    found.push(...tab.faults);
    await tab.context.close();
  }
  expect(found).toEqual([]);
});

test("a folder that is typed while the plan is loaded is kept, and the run starts in it", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const folder = join(served.place.home, "typed");
  mkdirSync(folder);
  writeFileSync(join(folder, "answer.json"), files["answer.json"]);
  const { page: tab, context: own } = await served.tab({ hash: "#/start/race" });
  const agents = tab.getByLabel(/^agents/);
  await agents.clear();
  await agents.pressSequentially("explore, general, code");
  expect(await agents.inputValue()).toBe("explore, general, code");
  await tab.getByLabel(/^models/).fill("scripted:answer.json");
  await tab.getByLabel(/^task \(needed\)/).fill("Say something.");
  await tab.getByLabel(/^folder/).fill(folder); // the focus stays in the field while the plan arrives
  await tab.locator(".plan-pane .box").first().waitFor();
  expect(await tab.getByLabel(/^folder/).inputValue()).toBe(folder);
  await tab.getByRole("button", { name: "Start the run" }).click();
  await tab.locator(".run-head").waitFor();
  const id = /run_\w+/.exec(tab.url())![0];
  const { stdout } = await served.place.run(["logs", id, "--json"], { shared: false });
  expect(stdout).toContain(`"cwd":${JSON.stringify(folder)}`);
  await own.close();
});

test("a link of `web --cwd` opens the page of a running server with that folder as its project", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const folder = join(served.place.home, `it's "a" & b`);
  mkdirSync(join(folder, ".claude", "agents"), { recursive: true });
  writeFileSync(join(folder, ".claude", "agents", "there.md"), "---\nname: there\ndescription: Is there.\n---\nBe.\n");
  for (const words of [
    { flags: ["--cwd", folder], at: served.place.workspace },
    { flags: [], at: folder },
  ]) {
    const { page: tab, context: own } = await served.tab({ hash: "#/start", ...words });
    expect(await tab.getByLabel(/^folder/).inputValue()).toBe(folder);
    await tab.getByRole("link", { name: "Agents" }).click();
    await tab.locator(".agent-list a", { hasText: "there" }).click();
    await tab.getByRole("row", { name: /^description .*Is there/ }).waitFor();
    await tab.reload();
    await tab.getByRole("row", { name: /^description .*Is there/ }).waitFor();
    await own.close();
  }
  const { code, stdout } = await served.place.run(["web", "--cwd", join(folder, "none")], { shared: false });
  expect([code, stdout]).toEqual([2, ""]);
});

test("a read-only link shows everything and can change nothing", async (context) => {
  if (missing !== undefined) context.skip(missing);
  const link = await served.link("--share-readonly");
  const guest = await browser!.newContext();
  const tab = await guest.newPage();
  await tab.goto(link);
  await tab.getByText("you can look, but change nothing").waitFor();
  await tab.evaluate(() => void (location.hash = "#/start"));
  await tab.getByText("This link is read-only.").waitFor();
  await guest.close();
  expect(faults).toEqual([]);
});
