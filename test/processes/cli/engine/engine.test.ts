import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "../../../../src/engines/postgres/database.ts";
import { type Place, place, script, type Started } from "../../command.ts";

const folder = mkdtempSync(join(tmpdir(), "subcrew engine ü-"));
const [here, there]: Place[] = [place({ "a.txt": "one\n" }), place({})];
let dev: Started;
let url = "";
let missing: string | undefined;
let database: Database;

beforeAll(async () => {
  dev = here!.start(["engine", "dev", "--json", "--data", folder]);
  const line = await firstLine(dev).catch((error: Error) => (missing = error.message));
  if (missing !== undefined) return;
  url = addressIn(line);
  database = openDatabase(url);
  await startWorker(here!);
}, 120_000);
afterAll(async () => {
  for (const { child } of all) child.kill("SIGKILL");
  await Promise.all(all.map(({ ended }) => ended));
  await database?.close();
  dev.child.kill("SIGINT");
  await dev.ended;
  rmSync(folder, { recursive: true, force: true });
}, 60_000);
beforeEach((context) => {
  if (missing !== undefined) context.skip(`no Postgres: ${missing}`);
});

type Event = Readonly<{ type: string; turn?: number }>;
const LIMIT = { timeout: 90_000, interval: 200 };
const unasked = ["--permission-mode", "bypass", "--sandbox", "off"];
/** The living workers of `here`, and every process that was started and must end. */
const workers: Started[] = [];
const all: Started[] = [];
const started = (one: Started): Started => {
  all.push(one);
  return one;
};
async function startWorker(where: Place, permissions: readonly string[] = unasked): Promise<Started> {
  const flags = ["--poll", "20ms", "--slots", "1", "--grace", "300ms", ...permissions];
  const worker = started(where.start(["worker", "--engine", url, ...flags]));
  if (where === here) workers.push(worker);
  await worker.until("takes tasks");
  return worker;
}

let printed = "";
async function firstLine({ child, until }: Started): Promise<string> {
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await until(/"url":.*\n/);
  return printed;
}
const addressIn = (line: string): string => (JSON.parse(line) as { url: string }).url;

describe("subcrew --engine", () => {
  test("a run in the database is visible from another machine's home folder, and is not stored in the home folder of this machine", async () => {
    const ran = await here!.run(["run", "--engine", url, "explore", "Which files are here?"]);
    expect(ran.code, ran.stderr).toBe(0);
    const [, id = ""] = /(run_[a-z0-9]{12})/.exec(ran.stderr) ?? [];
    const seen = await there!.run(["ps", "--all", "--json"], { env: { SUBCREW_ENGINE: url } });
    expect(JSON.parse(seen.stdout)).toMatchObject([{ id, status: "ok" }]);
    for (const args of [
      ["status", id],
      ["logs", "-v", id],
      ["show", id],
    ])
      expect((await there!.run([...args, "--engine", url])).stdout).toContain("Which files are here?");
    expect((await there!.run(["result", id, "--engine", url])).stdout).toContain("Searched for: files");
    expect((await here!.run(["ps", "--all"])).stderr).toContain("No runs yet.");
  });

  test("a background run on the engine can be waited for from another machine", async () => {
    const begun = await here!.run(["run", "--bg", "--engine", url, "--name", "bg", "explore", "In the background?"]);
    const [, id = ""] = /(run_[a-z0-9]{12})/.exec(begun.stdout) ?? [];
    const waited = await there!.run(["wait", id, "--engine", url]);
    expect([waited.code, begun.code], waited.stderr + begun.stderr).toEqual([0, 0]);
  });

  test("the status names the schema and never the password", async () => {
    const status = await there!.run(["engine", "status", "--engine", url]);
    expect([status.code, status.stdout], status.stderr).toEqual([
      0,
      expect.stringMatching(/tables {3}step \d+, up to date/),
    ]);
    expect(status.stdout).not.toContain(new URL(url).password);
    expect((await there!.run(["engine", "migrate", "--engine", url])).stdout).toMatch(/up to date/);
  });

  test("the status of a database without tables says how to create them, and nothing about processes", async () => {
    await database.query("create database blank");
    const blank = new URL(url);
    blank.pathname = "/blank";
    const { code, stdout } = await there!.run(["engine", "status", "--engine", blank.href]);
    expect([code, stdout.split("\n").slice(1)]).toEqual([
      0,
      ["tables   no tables yet: run `subcrew engine migrate --engine URL`", ""],
    ]);
  });

  test("a data folder that the user who runs the server cannot reach is named in the error", async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip("only root starts the server as another user");
    const closed = mkdtempSync(join(tmpdir(), "subcrew-closed-")); // only the owner of the folder may enter it
    const { code, stderr } = await there!.run(["engine", "dev", "--data", join(closed, "data")]);
    rmSync(closed, { recursive: true });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`who may not enter the folder ${closed}.\n`)]);
    expect(stderr).toContain("--data DIR");
  });

  test.each([
    [["ps", "--engine", "mysql://x"], 2, "not a Postgres URL"],
    [["ps", "--engine", "postgres://me:hidden1@127.0.0.1:1/x"], 1, "cannot be reached"],
    [["ps", "--engine", ""], 2, "--engine is empty"],
    [["engine", "status"], 2, "No engine is named"],
    [["engine", "drian"], 2, "drain"],
    [["worker"], 2, "No engine is named"],
  ])("%j gets an error with the problem and the fix", async (args, code, text) => {
    const ended = await there!.run(args);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(ended.stderr).not.toMatch(/hidden1|at .*\.js:\d/);
  });
});

describe("subcrew worker", () => {
  /** A first command that counts, and a second one that prints which worker runs it and waits for the file `go`. */
  const waiting = script(
    { calls: [{ name: "bash", input: { command: "echo first >> log" } }] },
    { calls: [{ name: "bash", input: { command: "echo $PPID >> log; until [ -e go ]; do sleep 0.1; done" } }] },
    "done",
  );
  const inWork = (name: string): string => join(here!.workspace, name);
  const begin = (...more: string[]): Started => {
    for (const name of ["go", "log"]) rmSync(inWork(name), { force: true });
    writeFileSync(inWork("waiting.json"), waiting);
    writeFileSync(inWork("done.json"), script("done"));
    const args = [
      "run",
      "bash",
      "x",
      "--engine",
      url,
      "--model",
      "scripted:waiting.json",
      "--json",
      ...unasked,
      ...more,
    ];
    return started(here!.start(args));
  };
  const logged = (): string[] => (existsSync(inWork("log")) ? readFileSync(inWork("log"), "utf8").split("\n") : []);
  const taker = ({ ended }: Started): Promise<Started> => {
    const found = vi.waitFor(() => {
      const worker = workers.find(({ child }) => String(child.pid) === logged()[1]);
      return worker ?? Promise.reject(new Error(`no worker has the task: ${logged().join(" ")}`));
    }, LIMIT);
    return Promise.race([found, ended.then(({ stdout, stderr }) => Promise.reject(new Error(stdout + stderr)))]);
  };
  const eventsIn = (text: string): Event[] =>
    text.split("\n").flatMap((line) => (line.startsWith('{"seq"') ? [JSON.parse(line) as Event] : []));
  const turnsIn = (events: readonly Event[]): unknown[] =>
    events.flatMap(({ type, turn }) => (type === "turn.ended" ? [turn] : []));
  const endsIn = (events: readonly Event[]): number => events.filter(({ type }) => type === "run.ended").length;

  beforeAll(async () => {
    if (missing === undefined) await startWorker(here!);
  }, 120_000);

  test("two tasks of one run that wait for each other are carried out by two workers with one slot each", async () => {
    // A worker that is delayed for longer than `dead_after` on a busy machine loses its task to another one, which adds
    // a file.
    const meet = "echo $PPID > met.$$; until [ $(sort -u met.* | wc -l) -ge 2 ]; do sleep 0.1; done";
    writeFileSync(inWork("meet.json"), script({ calls: [{ name: "bash", input: { command: meet } }] }, "met"));
    const args = ["parallel", "bash=one", "bash=two", "--engine", url, "--model", "scripted:meet.json", ...unasked];
    const { code, stderr } = await started(here!.start(args)).ended;
    expect(code, stderr).toBe(0);
    const met = readdirSync(here!.workspace).filter((name) => name.startsWith("met."));
    const pids = met.map((name) => readFileSync(inWork(name), "utf8").trim());
    expect([...new Set(pids)].toSorted()).toEqual(workers.map(({ child }) => String(child.pid)).toSorted());
  }, 120_000);

  test("a run on workers is recorded, replayed without its model, and its result is reused until a file changes", async () => {
    const read = { calls: [{ name: "read_file", input: { path: inWork("a.txt") } }] };
    const ask = (...flags: string[]): ReturnType<Place["run"]> =>
      here!.run(["run", "--engine", url, "explore", "Say it", "--model", "scripted:say.json", ...flags]);
    writeFileSync(inWork("say.json"), script(read, "it says one"));
    expect((await ask("--record", "tape.json")).code).toBe(0);
    writeFileSync(inWork("a.txt"), "two\n");
    rmSync(inWork("say.json"));
    const replayed = await ask("--replay", "tape.json");
    expect([replayed.code, replayed.stdout], replayed.stderr).toEqual([0, expect.stringContaining("it says one")]);
    expect(replayed.stderr).not.toContain("not in");
    writeFileSync(inWork("say.json"), script(read, "it says one"));
    writeFileSync(inWork("a.txt"), "one\n");
    expect((await ask("--reuse")).stderr).toContain("reused: explore");
    writeFileSync(inWork("a.txt"), "two\n");
    expect((await ask("--reuse")).stderr).not.toContain("reused: explore");
  }, 120_000);

  test("a worker that is told to end returns its task after the grace period, and another worker continues the task", async () => {
    const began = begin();
    const first = await taker(began);
    first.child.kill("SIGTERM");
    expect((await first.ended).code).toBe(143);
    writeFileSync(inWork("go"), "");
    const { code, stdout, stderr } = await began.ended;
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining("returned it; another worker continues")]);
    expect(turnsIn(eventsIn(stdout))).toEqual([1, 2, 3]);
    workers.splice(workers.indexOf(first), 1);
    await startWorker(here!);
  }, 120_000);

  test("the task of a killed worker continues on another worker from its recorded turns, and ends once", async () => {
    const began = begin();
    const first = await taker(began);
    first.child.kill("SIGKILL");
    await first.ended;
    writeFileSync(inWork("go"), ""); // the file `go` ends the command that the dead worker left behind
    const { code, stdout, stderr } = await began.ended;
    expect([code, stdout], stderr).toEqual([0, expect.stringContaining("shows no sign of life")]);
    expect([turnsIn(eventsIn(stdout)), endsIn(eventsIn(stdout))]).toEqual([[1, 2, 3], 1]);
    expect(logged()).toEqual(["first", String(first.child.pid), ""]);
    workers.splice(workers.indexOf(first), 1);
  }, 120_000);

  test("a run whose process is killed is taken over by a worker, and no recorded turn is repeated", async () => {
    const began = begin();
    await taker(began);
    began.child.kill("SIGKILL");
    const [, id = ""] = /(run_[a-z0-9]{12})/.exec((await began.ended).stdout) ?? [];
    writeFileSync(inWork("go"), "");
    const over = `select 1 from subcrew.events where run = $1 and event->>'type' = 'run.ended'`;
    await expect.poll(() => database.query(over, [id]), LIMIT).toHaveLength(1);
    const seen = await there!.run(["ps", "--all", "--json", "--engine", url]);
    expect(JSON.parse(seen.stdout)).toContainEqual(expect.objectContaining({ id, status: "ok" }));
    const events = eventsIn((await there!.run(["logs", id, "--json", "--engine", url])).stdout);
    expect([turnsIn(events), endsIn(events)]).toEqual([[1, 2, 3], 1]);
    expect(logged().filter((line) => line === "first")).toHaveLength(1);
  }, 120_000);

  test("`kill` ends a run and its task, and no worker continues it until it is resumed", async () => {
    const began = begin();
    await taker(began);
    const [taken] = await database.query<{ run: string }>("select run from subcrew.calls where state = 'taken'");
    const id = taken!.run;
    const killed = await here!.run(["kill", id, "--engine", url]);
    expect([killed.code, killed.stdout]).toEqual([0, `${id} was killed.\nnext: subcrew resume ${id}\n`]);
    // A worker takes over runs with an owner.
    expect(await database.query("select owner from subcrew.runs where run = $1", [id])).toEqual([{ owner: null }]);
    await began.ended;
    // The only slot of the only worker is free again.
    const other = await here!.run(["run", "bash", "x", "--engine", url, "--model", "scripted:done.json", ...unasked]);
    expect(other.code, other.stderr).toBe(0);
    writeFileSync(inWork("go"), "");
    const resumed = await here!.run(["resume", id, "--engine", url, "--json"]);
    expect(resumed.code, resumed.stderr).toBe(0);
    const events = eventsIn((await there!.run(["logs", id, "--json", "--engine", url])).stdout);
    expect([turnsIn(events), endsIn(events)]).toEqual([[1, 2, 3], 1]);
    expect(events.filter(({ type }) => type === "run.resumed")).toHaveLength(1);
  }, 120_000);

  test("a task that no worker can serve is parked with the reason, and continues on a worker that can, with that worker's permissions", async () => {
    const touch = { calls: [{ name: "bash", input: { command: "touch made" } }] };
    writeFileSync(join(there!.workspace, "touch.json"), script(touch, "done"));
    const args = ["run", "--bg", "--engine", url, "bash", "x", "--model", "scripted:touch.json", ...unasked];
    const [, id = ""] = /(run_[a-z0-9]{12})/.exec((await there!.run(args)).stdout) ?? [];
    const parked = `select 1 from subcrew.events where run = $1 and event->>'type' = 'node.parked'`;
    await expect.poll(() => database.query(parked, [id]), LIMIT).toHaveLength(1);
    const shown = await here!.run(["status", id, "--engine", url]);
    expect(shown.stdout).toContain(`no worker has the workspace ${there!.workspace}`);
    const engine = await here!.run(["engine", "status", "--engine", url]);
    expect(engine.stdout).toMatch(new RegExp(`1 parked\\n  ${id}/bash#1: no worker has the workspace`));
    const last = await startWorker(there!, ["--deny", "bash"]);
    expect((await here!.run(["wait", id, "--engine", url])).code).toBe(0);
    expect((await here!.run(["logs", id, "--json", "--engine", url])).stdout).toContain('"tool.denied"');
    expect(existsSync(join(there!.workspace, "made"))).toBe(false);
    const { stdout } = await here!.run(["engine", "status", "--json", "--engine", url]);
    const { processes } = JSON.parse(stdout) as { processes: { id: string }[] };
    const name = processes.find(({ id: process }) => process.includes(`.${last.child.pid}.`))!.id;
    expect((await here!.run(["engine", "drain", name, "--engine", url])).code).toBe(0);
    expect((await last.ended).code).toBe(0);
  }, 120_000);
});

test("a worker with another clone fetches commits and uncommitted changes, its own changes come back, and no row contains a key", async () => {
  const [near, far]: Place[] = [place({ "a.txt": "one\n", ".gitignore": "*.log\n" }), place({})];
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@y", ...args], { cwd: near!.workspace });
  const library = place({ "lib.txt": "x\n" }).workspace;
  const ofLibrary = ["-C", library, "-c", "user.name=x", "-c", "user.email=x@y"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "lib"],
  ])
    execFileSync("git", [...ofLibrary, ...args]);
  git("init", "-q");
  git("add", ".");
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib");
  git("commit", "-qm", "one");
  execFileSync("git", ["clone", "-q", near!.workspace, join(far!.workspace, "clone")]);
  writeFileSync(join(near!.workspace, "b.txt"), "committed later\n");
  git("add", ".");
  git("commit", "-qm", "two");
  writeFileSync(join(near!.workspace, "a.txt"), "uncommitted\n");
  const edit =
    "cat a.txt b.txt; echo edited >> a.txt; echo $ANTHROPIC_API_KEY > new.txt; pwd > where.txt; echo m > lib/made; echo > a.log";
  writeFileSync(
    join(near!.workspace, "edit.json"),
    script({ calls: [{ name: "bash", input: { command: edit } }] }, "done"),
  );
  const keys = { ANTHROPIC_API_KEY: "sk-ant-of-the-worker-1", OPENAI_API_KEY: "sk-of-the-coordinator-2" };
  const flags = ["worker", "--engine", url, "--poll", "20ms", ...unasked, "--cwd", join(far!.workspace, "clone")];
  const worker = started(far!.start(flags, { env: keys }));
  await worker.until("takes tasks");
  const args = ["run", "--engine", url, "bash", "x", "--model", "scripted:edit.json", "--json", ...unasked];
  const { code, stdout, stderr } = await near!.run(args, { env: keys });
  expect([code, stdout], stderr).toEqual([0, expect.stringContaining("uncommitted\\ncommitted later")]);
  const made = (name: string): string => readFileSync(join(near!.workspace, name), "utf8");
  expect([made("a.txt"), made("new.txt")]).toEqual(["uncommitted\nedited\n", "\n"]);
  expect(made("where.txt")).toContain(`${far!.home}/`);
  expect(stdout).toContain("that git ignores were not copied back: a.log.");
  const [, kept = ""] = /were not applied: lib\. They are in (\S+\.repositories) on /.exec(stdout) ?? [];
  expect(readFileSync(join(kept, "lib", "made"), "utf8")).toBe("m\n");
  const inClone = [".git", ".gitignore", ".gitmodules", "a.txt", "lib"];
  expect(readdirSync(join(far!.workspace, "clone")).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(inClone);
  worker.child.kill("SIGTERM");
  await worker.ended;
  const tables = await database.query<{ name: string }>(
    "select schemaname || '.' || tablename as name from pg_tables where schemaname in ('subcrew', 'dbos')",
  );
  expect(tables.length).toBeGreaterThan(15);
  for (const { name } of tables) {
    const rows = await database.query<{ found: number }>(
      `select count(*)::integer as found from ${name} t where t::text like any($1)`,
      [[...Object.values(keys), new URL(url).password].map((key) => `%${key}%`)],
    );
    expect([name, rows]).toEqual([name, [{ found: 0 }]]);
  }
}, 120_000);

test("a helper on another worker begins with the uncommitted files of its parent task, and its changes come back through that task", async () => {
  const agent = (name: string, tools: string): string =>
    `---\nname: ${name}\ndescription: works\ntools: ${tools}\nmodel: scripted:${name}.json\n---\nWork.\n`;
  const run = (command: string): object => ({ calls: [{ name: "bash", input: { command } }] });
  const aides = ["ann", "bob"] as const;
  const near = place({ "a.txt": "one\n", "ann.txt": "ann\n", "bob.txt": "bob\n" });
  const meeting = place({}).workspace;
  const homes = join(near.home, ".claude", "agents");
  mkdirSync(homes, { recursive: true });
  writeFileSync(join(homes, "boss.md"), agent("boss", "Bash, Task"));
  for (const name of aides) writeFileSync(join(homes, `${name}.md`), agent(name, "Bash"));
  // Each of the two waits for the other, so they need the slots of two workers.
  const meet = `touch ${meeting}/$me; until [ -e ${meeting}/ann ] && [ -e ${meeting}/bob ]; do sleep 0.05; done`;
  const work = "cat a.txt fresh-$me.txt; cat a.txt >> $me.txt; rm fresh-$me.txt; pwd > $me-place.txt";
  const scripts = {
    "boss.json": script(
      run("echo boss >> a.txt; for me in ann bob; do echo secretly > fresh-$me.txt; done"),
      {
        calls: aides.map((name) => ({
          name: "Task",
          input: { subagent_type: name, description: "help", prompt: "Help." },
        })),
      },
      run("cat ann.txt bob.txt > seen.txt; ls fresh-* || echo deleted >> seen.txt"),
      "done",
    ),
    ...Object.fromEntries(
      aides.map((name) => [`${name}.json`, script(run(`me=${name}; ${meet}; ${work}`), "helped")] as const),
    ),
  };
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@y", ...args], { cwd: near.workspace });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "one");
  const far = [place({}), place({})];
  for (const { workspace } of far) execFileSync("git", ["clone", "-q", near.workspace, join(workspace, "clone")]);
  writeFileSync(join(near.workspace, "a.txt"), "uncommitted\n");
  for (const [name, text] of Object.entries(scripts)) writeFileSync(join(near.workspace, name), text);
  const ours = far.map(({ workspace, start }) => {
    const flags = ["--poll", "20ms", "--slots", "1", ...unasked, "--cwd", join(workspace, "clone")];
    return started(start(["worker", "--engine", url, ...flags]));
  });
  await Promise.all(ours.map(({ until }) => until("takes tasks")));
  const args = ["run", "--engine", url, "boss", "x", "--json", ...unasked];
  const { code, stdout, stderr } = await near.run(args);
  expect([code, stdout], stderr).toEqual([0, expect.stringContaining("uncommitted\\nboss\\nsecretly")]);
  const made = (name: string): string => readFileSync(join(near.workspace, name), "utf8");
  const [ann, bob] = ["ann\nuncommitted\nboss\n", "bob\nuncommitted\nboss\n"];
  expect([made("ann.txt"), made("bob.txt"), made("seen.txt")]).toEqual([ann, bob, `${ann}${bob}deleted\n`]);
  expect(readdirSync(near.workspace).filter((name) => name.startsWith("fresh-"))).toEqual([]);
  const homeOf = (name: string): number => far.findIndex(({ home }) => made(`${name}-place.txt`).startsWith(home));
  expect(new Set(aides.map(homeOf))).toEqual(new Set([0, 1])); // one of the two ran on another worker than their parent
  for (const { child, ended } of ours) {
    child.kill("SIGTERM");
    await ended;
  }
}, 120_000);

test("a second `engine dev` in the same folder prints the address, ends, and leaves the database to the first", async () => {
  const other = started(here!.start(["engine", "dev", "--data", folder]));
  const serves = other.until("Ctrl-C stops Postgres.").then(() => "it serves, too");
  const second = await Promise.race([other.ended, serves]);
  expect(second).toMatchObject({
    code: 0,
    stdout: `${url}\n`,
    stderr: expect.stringContaining("Another `subcrew engine dev`"),
  });
  expect((await there!.run(["ps", "--engine", url])).code).toBe(0);
});

test("a database whose `engine dev` is killed is stopped, and the same folder can be served again", async () => {
  const own = mkdtempSync(join(tmpdir(), "subcrew-killed-"));
  const first = started(here!.start(["engine", "dev", "--data", own]));
  await first.until("Ctrl-C stops Postgres.");
  const pid = Number(readFileSync(join(own, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  first.child.kill("SIGKILL");
  await first.ended;
  await vi.waitFor(() => expect(existsSync(`/proc/${pid}`)).toBe(false), { timeout: 10_000, interval: 100 });
  const second = started(here!.start(["engine", "dev", "--data", own]));
  await second.until("Ctrl-C stops Postgres.");
  second.child.kill("SIGINT");
  expect(await second.ended).toMatchObject({ code: 0, stdout: (await first.ended).stdout });
  rmSync(own, { recursive: true, force: true });
}, 90_000);

test("Ctrl-C stops the database, and the same folder can be served again, with the same address", async () => {
  dev.child.kill("SIGINT");
  expect((await dev.ended).code).toBe(0);
  expect((await there!.run(["ps", "--engine", url])).stderr).toContain("cannot be reached");
  printed = "";
  dev = here!.start(["engine", "dev", "--json", "--data", folder]);
  expect(addressIn(await firstLine(dev))).toBe(url);
  expect((await there!.run(["runs", "--engine", url])).stdout).toContain("run_");
});
