import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { migrateDbos } from "../../../../src/engines/dbos/listen.ts";
import { type Database, openDatabase } from "../../../../src/engines/postgres/database.ts";
import { usePostgres } from "../../../support/postgres.ts";
import { type Place, place, script, type Started } from "../../command.ts";

const postgres = usePostgres();

const LIMIT = { timeout: 60_000, interval: 100 };
const unasked = ["--permission-mode", "bypass", "--sandbox", "off"];

const agentFile = (name: string, more = ""): string => `---\nname: ${name}\ndescription: ${name}\n${more}---\nWork.\n`;
const give = ({ home }: Pick<Place, "home">, name: string, more = "tools: Bash\n"): void => {
  mkdirSync(join(home, ".claude", "agents"), { recursive: true });
  writeFileSync(join(home, ".claude", "agents", `${name}.md`), agentFile(name, more));
};
const bash = (command: string): object => ({ calls: [{ name: "bash", input: { command } }] });

const starts = (agent: string): object => ({
  calls: [{ name: "task", input: { agent, tasks: [{ id: "x", assignment: "look" }] } }],
});

/**
 * Three steps by three agents. The first waits for the file `go`; the second starts the agent `scout`. The plan is of
 * the first process alone: its home folder has the agents.
 */
const files = {
  "first.json": script(bash("touch began; until [ -e go ]; do sleep 0.05; done"), "first"),
  "second.json": script(starts("scout"), starts("nobody"), "second"),
  "third.json": script("third"),
  "scout.json": script("scouted"),
  "plan.json": JSON.stringify({
    nodes: {
      a: { kind: "task", task: { agent: "one", prompt: "go", model: "scripted:first.json" } },
      b: { kind: "task", needs: ["a"], task: { agent: "boss", prompt: "go", model: "scripted:second.json" } },
      c: { kind: "task", needs: ["b"], task: { agent: "last", prompt: "go", model: "scripted:third.json" } },
    },
    output: "c",
  }),
};

function submitter(): Place {
  const here = place(files);
  give(here, "one");
  give(here, "boss", "tools: task\nspawns: '*'\n");
  give(here, "last");
  give(here, "scout", "tools: Bash\nmodel: scripted:scout.json\n");
  return here;
}

type Row = Readonly<{ type: string; path: string; text: string }>;
const eventsOf = async (database: Database, run: string): Promise<readonly Row[]> =>
  database.query<Row>(
    "select event->>'type' as type, path, event::text as text from subcrew.events where run = $1 order by seq",
    [run],
  );

/** Starts the run on an engine, kills its process while the first task works, and lets a worker take it over. */
async function orphaned(forget?: (database: Database) => Promise<unknown>): Promise<{
  here: Place;
  there: Place;
  url: string;
  database: Database;
  worker: Started;
  run: string;
}> {
  const url = await postgres.server().fresh();
  await migrateDbos(url);
  const database = openDatabase(url);
  const [here, there] = [submitter(), place()];
  const all: Started[] = [];
  onTestFinished(async () => {
    for (const { child } of all) child.kill("SIGKILL");
    await Promise.all(all.map(({ ended }) => ended));
    await database.close();
  });
  const begin = (from: Place, ...args: string[]): Started => {
    const one = from.start([...args, "--engine", url, ...unasked], { cwd: here.workspace });
    all.push(one);
    return one;
  };
  const worker = begin(there, "worker", "--poll", "20ms");
  await worker.until("takes tasks");
  const first = begin(here, "run", "--input", "plan.json", "--json");
  await expect.poll(() => readdirSync(here.workspace), LIMIT).toContain("began");
  first.child.kill("SIGKILL");
  const [, run = ""] = /(run_[a-z0-9]{12})/.exec((await first.ended).stdout) ?? [];
  await forget?.(database);
  await database.query("update subcrew.processes set beat = beat - interval '1 hour' where pid = $1", [
    first.child.pid,
  ]);
  await worker.until(`takes over ${run}`);
  writeFileSync(join(here.workspace, "go"), "");
  return { here, there, url, database, worker, run };
}

test("a worker that has none of the agents takes a run over and finishes it with the agents that the run carries", async () => {
  const { database, run } = await orphaned();
  await expect.poll(async () => (await eventsOf(database, run)).at(-1)?.type, LIMIT).toBe("run.ended");
  const events = await eventsOf(database, run);
  const ends = events.filter(({ type }) => type === "node.ended").map(({ path, text }) => [path, text]);
  expect(ends).toEqual([
    ["a", expect.stringContaining('"output":"first"')],
    ["b/x", expect.stringContaining('"output":"scouted"')],
    ["b", expect.stringContaining('"output":"second"')],
    ["c", expect.stringContaining('"output":"third"')],
  ]);
  expect(events.find(({ type, text }) => type === "tool.ended" && text.includes("nobody"))?.text).toContain(
    '"error":true',
  );
  expect(events.map(({ type }) => type)).not.toContain("node.parked");
}, 120_000);

test("a task whose agent no process finds is parked, is named in ps, status and the log of the worker, and goes on with the file", async () => {
  const { here, there, url, database, worker, run } = await orphaned((forgetting) =>
    forgetting.query("truncate subcrew.run_agents, subcrew.outputs, subcrew.artifacts"),
  );
  const why = 'The agent "boss" cannot be found.';
  await worker.until(`${run}/b is parked: ${why}`);
  const looks = [
    ["ps", "--all"],
    ["status", run],
  ];
  for (const args of looks) expect((await here.run([...args, "--engine", url])).stdout, args.join(" ")).toContain(why);
  give(there, "boss", "tools: task\nspawns: '*'\n");
  give(there, "scout", "tools: Bash\nmodel: scripted:scout.json\n");
  await worker.until(`${run}/c is parked: The agent "last" cannot be found.`);
  give(there, "last");
  await expect.poll(async () => (await eventsOf(database, run)).at(-1)?.type, LIMIT).toBe("run.ended");
  const events = await eventsOf(database, run);
  expect(events.at(-1)?.text).toContain('"output":"third"');
}, 120_000);

test("an unknown agent of a new run on an engine ends with exit code 2, and nothing is recorded", async () => {
  const url = await postgres.server().fresh();
  const here = place();
  const { code, stderr } = await here.run(["run", "nobody", "x", "--engine", url]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Unknown agent "nobody"')]);
  const database = openDatabase(url);
  onTestFinished(() => database.close());
  expect(await database.query("select from subcrew.run_agents")).toEqual([]);
}, 60_000);

/** A run in a folder whose process was killed while its first task worked. */
async function interrupted(here: Place): Promise<string> {
  const first = here.start(["run", "--input", "plan.json", "--json", ...unasked]);
  await expect.poll(() => readdirSync(here.workspace), LIMIT).toContain("began");
  first.child.kill("SIGKILL");
  const [, run = ""] = /(run_[a-z0-9]{12})/.exec((await first.ended).stdout) ?? [];
  writeFileSync(join(here.workspace, "go"), "");
  rmSync(join(here.home, ".claude"), { recursive: true });
  return run;
}

test("a local run is resumed with its agents after their files were deleted, and each definition is stored once", async () => {
  const here = submitter();
  const run = await interrupted(here);
  const kept = readdirSync(join(here.home, "state", "run-agents"));
  const { code, stdout } = await here.run(["resume", run, "-o", "text"]);
  expect([code, stdout.trim()]).toEqual([0, "third"]);
  for (const name of ["one", "boss", "last", "scout"]) give(here, name);
  give(here, "boss", "tools: task\nspawns: '*'\n");
  give(here, "scout", "tools: Bash\nmodel: scripted:scout.json\n");
  expect((await here.run(["run", "--input", "plan.json", "--json", ...unasked])).code).toBe(0);
  expect(readdirSync(join(here.home, "state", "run-agents"))).toEqual(kept);
}, 120_000);

test("a resumed local run parks a task whose agent is missing, and continues when its file is there", async () => {
  const here = submitter();
  const run = await interrupted(here);
  rmSync(join(here.home, "state", "run-agents"), { recursive: true });
  expect((await here.run(["resume", run, "--bg"])).code).toBe(0);
  const why = 'The agent "boss" cannot be found.';
  await expect.poll(async () => (await here.run(["status", run])).stdout, LIMIT).toContain(why);
  expect((await here.run(["ps"])).stdout).toContain(why);
  for (const name of ["one", "last", "scout"]) give(here, name);
  give(here, "boss", "tools: task\nspawns: '*'\n");
  expect((await here.run(["wait", run])).code).toBe(0);
}, 120_000);
