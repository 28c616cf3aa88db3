import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { place, script } from "../../command.ts";
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

test("watch names the task of an approval", async (ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const team = {
    team: { tasks: [{ id: "page", task: "Write it.", requiresApproval: true, tools: ["read_file"] }] },
  };
  const there = place({ "team.json": JSON.stringify(team), "turns.json": script("the page") });
  const started = await there.run(["team", "--input", "team.json", "--model", "scripted:turns.json", "--bg"]);
  const [id = ""] = /run_\w{12}/.exec(started.stdout) ?? [];
  open = terminal(tmux.path, there, ["watch", id]);
  const screen = await open.until(/approval of page/);
  expect(screen.join("\n")).not.toMatch(/^\W*approval\s{2,}/m);
  open.keys("q");
  await open.until("[exit 0]");
  await there.run(["kill", id]);
});

test("top shows a run whose journal begins with damage, and does not list it under another project", async (ctx) => {
  if (tmux.missing !== undefined) return ctx.skip(tmux.missing);
  const there = place();
  const runs = join(there.env["SUBCREW_HOME"]!, "runs");
  mkdirSync(join(runs, "run_damaged00000"), { recursive: true });
  writeFileSync(join(runs, "run_damaged00000", "journal.jsonl"), "not a record\n");
  open = terminal(tmux.path, there, ["top"]);
  const screen = await open.until("run_damaged00000");
  expect(screen.join("\n")).not.toContain("of other projects");
  open.keys("q");
  await open.until("[exit 0]");
});
