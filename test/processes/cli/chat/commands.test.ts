import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { type Place, place } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

let tmux: Need;
beforeAll(async () => {
  tmux = await needs("tmux");
}, needsTimeout);

let open: Terminal | undefined;
afterEach(() => {
  open?.close();
  open = undefined;
});

/** The name of a model that plays these turns. In a continued conversation, it begins after the turns so far. */
function played(at: Place, name: string, turns: readonly unknown[]): string {
  const file = join(at.home, `${name}.json`);
  writeFileSync(file, JSON.stringify(turns));
  return `scripted:${file}`;
}

/** An agent of the user that runs one command. */
function runner(at: Place, name: string, command: string): object {
  const model = played(at, name, [{ calls: [{ name: "bash", input: { command } }] }, `${name} is done.`]);
  mkdirSync(join(at.home, ".subcrew/agents"), { recursive: true });
  writeFileSync(
    join(at.home, `.subcrew/agents/${name}.md`),
    `---\nname: ${name}\ndescription: runs a command\ntools: [bash]\nmodel: ${model}\n---\nRun it.\n`,
  );
  return { name: "Task", input: { subagent_type: name, description: "Run it", prompt: "Run it." } };
}

test("an approved pattern also answers the questions of other agents that wait for the same rule", async ({ skip }) => {
  if (tmux.missing !== undefined) return skip(tmux.missing);
  const at = place({ "one.txt": "1\n" });
  const calls = [
    runner(at, "first", "touch -c one.txt"),
    runner(at, "second", "touch -c two.txt"),
    runner(at, "other", "mkdir -p three"),
  ];
  const model = played(at, "lead", [{ calls }, "All have run."]);
  open = terminal(tmux.path, at, ["chat", "--model", model, "Run them."], { columns: 120, rows: 40 });
  await open.until("(2 more wait)");
  // The order of the three questions is not fixed: the one about another rule is answered alone.
  if (/mkdir -p three/.test(open.screen().join("\n"))) {
    open.keys("y", "Enter");
    await open.until(/\(1 more waits?\)/);
  }
  open.keys("c", "Enter");
  await open.until("> bash(touch -c *)");
  open.keys("Enter");
  await open.until(/touch -c (?:one|two)\.txt is covered by bash\(touch -c \*\)/);
  if (!/mkdir -p three/.test(open.history().split("is covered by")[0]!)) {
    await open.until(/mkdir -p three[^]*Allow this call\?/);
    open.keys("y", "Enter");
  }
  await open.until("All have run.");
  expect(open.history().match(/ asks:/g)).toHaveLength(2);
  expect(open.history().match(/is covered by/g)).toHaveLength(1);
});

test("/model selects another model for the next message; an unknown model is refused at once", async () => {
  const at = place();
  const [first, second] = [played(at, "a", ["From the first."]), played(at, "b", ["not this", "From the second."])];
  const { code, stdout, stderr } = await at.run(["chat", "--commands", "--model", first], {
    input: `Hello?\n/model nobody/knows-it\n/model ${second}\nAnd now?\n`,
  });
  expect([code, stdout]).toEqual([0, "From the first.\nFrom the second.\n"]);
  expect(stderr).toContain("nobody");
  expect(stderr).toContain(`The model is now ${second}.`);
});

test("/resume shows the last message and its answer, and the next message continues there", async ({ skip }) => {
  if (tmux.missing !== undefined) return skip(tmux.missing);
  const at = place();
  const before = await at.run(["chat", "--model", played(at, "a", ["Roses."])], { input: "Name a plant.\n" });
  expect(before.code).toBe(0);
  open = terminal(tmux.path, at, ["chat", "--model", played(at, "b", ["not this", "Tulips."])]);
  await open.until(/exits\.\n>/);
  open.keys("/resume plant", "Enter");
  await open.until(/> Name a plant\.\n+Roses\.[^]*The next message continues run_\w{12}\./);
  open.keys("Another one?", "Enter");
  await open.until("Tulips.");
});

test("Tab completes hidden files only after a dot", async ({ skip }) => {
  if (tmux.missing !== undefined) return skip(tmux.missing);
  const at = place({ "conf/shown.txt": "", "conf/.secret": "" });
  open = terminal(tmux.path, at, ["chat", "--model", played(at, "a", ["Yes."])]);
  await open.until(/exits\.\n>/);
  open.keys("@conf/", "Tab");
  await open.until("> @conf/shown.txt");
  open.keys("C-c");
  await open.until(/>\s*\n/);
  open.keys("@conf/.", "Tab");
  await open.until("> @conf/.secret");
});
