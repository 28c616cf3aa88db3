import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { migrateDbos } from "../../../../src/engines/dbos/listen.ts";
import { usePostgres } from "../../../support/postgres.ts";
import { type Place, place, script, type Started } from "../../command.ts";

const postgres = usePostgres();

const unasked = ["--permission-mode", "bypass", "--sandbox", "off"];
const agent = (name: string, tools: string, model: string): string =>
  `---\nname: ${name}\ndescription: ${name}\ntools: ${tools}\nmodel: scripted:${model}.json\n---\nWork.\n`;
const starts = (name: string, ...ids: string[]): object => ({
  calls: [{ name: "task", input: { agent: name, tasks: ids.map((id) => ({ id, assignment: "work" })) } }],
});
const bash = (command: string): object => ({ calls: [{ name: "bash", input: { command } }] });

type Site = Readonly<{
  here: Place;
  worker(from: Place, ...flags: string[]): Promise<Started>;
  run(...args: string[]): Started;
}>;

async function openSite(scripts: Readonly<Record<string, string>>): Promise<Site> {
  const url = await postgres.server().fresh();
  await migrateDbos(url);
  const here = place(scripts);
  const folder = join(here.home, ".claude", "agents");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "boss.md"), agent("boss", "task, Bash", "boss"));
  writeFileSync(join(folder, "deputy.md"), agent("deputy", "task", "deputy"));
  writeFileSync(join(folder, "hand.md"), agent("hand", "Bash", "hand"));
  const all: Started[] = [];
  onTestFinished(async () => {
    for (const { child } of all) child.kill("SIGKILL");
    await Promise.all(all.map(({ ended }) => ended));
  });
  const begin = (from: Place, ...args: string[]): Started => {
    const one = from.start([...args, "--engine", url, ...unasked], { cwd: here.workspace });
    all.push(one);
    return one;
  };
  return {
    here,
    run: (...args) => begin(here, ...args),
    worker: async (from, ...flags) => {
      const worker = begin(from, "worker", "--poll", "20ms", "--grace", "300ms", ...flags);
      await worker.until("takes tasks");
      return worker;
    },
  };
}

test("a task that delegates gives its slot back: agents three levels deep end on one worker with one slot", async () => {
  const site = await openSite({
    "boss.json": script(starts("deputy", "a", "b"), "boss is done"),
    "deputy.json": script(starts("hand", "x"), "deputy is done"),
    "hand.json": script(bash("mkdir busy || echo crowded >> crowd; sleep 0.2; rmdir busy"), "hand is done"),
  });
  const worker = await site.worker(site.here, "--slots", "1");
  const { code, stdout, stderr } = await site.run("run", "boss", "go", "-o", "text").ended;
  expect([code, stdout.trim()], stderr).toEqual([0, "boss is done"]);
  expect(existsSync(join(site.here.workspace, "crowd"))).toBe(false);
  worker.child.kill("SIGTERM");
  expect((await worker.ended).code).toBe(143);
}, 90_000);

test("tasks that hold all slots and wait for subagents end, and never more tasks than slots work at once", async () => {
  const site = await openSite({
    "boss.json": script(starts("hand", "x", "y"), starts("hand", "z"), "boss is done"),
    "hand.json": script(
      bash(
        "mkdir one 2>/dev/null && at=one || { mkdir two 2>/dev/null && at=two; } || echo crowded >> crowd; sleep 0.2; rmdir $at",
      ),
      "hand is done",
    ),
  });
  await site.worker(site.here, "--slots", "2");
  const { code, stderr } = await site.run("parallel", "boss=one", "boss=two", "boss=three").ended;
  expect(code, stderr).toBe(0);
  expect(existsSync(join(site.here.workspace, "crowd"))).toBe(false);
}, 90_000);

test("helpers that are started at the same moment are spread over workers of two classes", async () => {
  const site = await openSite({
    "boss.json": script(starts("hand", "a", "b", "c", "d"), "boss is done"),
    "hand.json": script(
      bash('echo "$PPID" >> took; until [ "$(sort -u took | wc -l)" -ge 2 ]; do sleep 0.05; done'),
      "done",
    ),
  });
  // A different number of slots is a different class.
  await site.worker(site.here, "--slots", "3");
  await site.worker(place(), "--slots", "2");
  const { code, stderr } = await site.run("run", "boss", "go").ended;
  expect(code, stderr).toBe(0);
}, 90_000);
