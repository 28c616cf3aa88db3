import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { migrateDbos } from "../../../../src/engines/dbos/listen.ts";
import { type Database, openDatabase } from "../../../../src/engines/postgres/database.ts";
import { type TestServer, usePostgres } from "../../../support/postgres.ts";
import { type Place, place, script, type Started } from "../../command.ts";

const postgres = usePostgres();

const LIMIT = { timeout: 90_000, interval: 100 };
const unasked = ["--permission-mode", "bypass", "--sandbox", "off"];
const bash = (command: string): object => ({ calls: [{ name: "bash", input: { command } }] });

/** A separate database, and processes that use it in one folder. */
type Site = Readonly<{
  here: Place;
  url: string;
  database: Database;
  run(...args: string[]): ReturnType<Place["run"]>;
  worker(): Promise<Started>;
  /**
   * Starts a run that writes into the file NAME, then waits three times for the file NAME.go. Kills its process during
   * the first wait, and returns when the worker that takes the run over is in the second wait: an interrupted call is
   * not repeated.
   */
  orphan(name: string, worker: Started): Promise<string>;
  lines(name: string): readonly string[];
  /** The types of the run's own events, and the numbers of the recorded turns. */
  recorded(run: string): Promise<Readonly<{ types: readonly string[]; turns: readonly number[] }>>;
  ended(run: string): Promise<void>;
}>;

async function openSite(server: TestServer): Promise<Site> {
  const url = await server.fresh();
  await migrateDbos(url);
  const database = openDatabase(url);
  const here = place({});
  const all: Started[] = [];
  const start = (...args: string[]): Started => {
    const one = here.start([...args, "--engine", url, ...unasked]);
    all.push(one);
    return one;
  };
  onTestFinished(async () => {
    for (const { child } of all) child.kill("SIGKILL");
    await Promise.all(all.map(({ ended }) => ended));
    await database.close();
  });
  /** A killed process counts as dead at once, instead of after ten seconds without a heartbeat. */
  const skipSilence = async ({ child }: Started): Promise<void> => {
    await database.query("update subcrew.processes set beat = beat - interval '1 hour' where pid = $1", [child.pid]);
  };
  const lines = (name: string): readonly string[] => {
    const file = join(here.workspace, name);
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  };
  const recorded: Site["recorded"] = async (run) => {
    const rows = await database.query<{ type: string; turn: number | null }>(
      "select event->>'type' as type, (event->>'turn')::integer as turn from subcrew.events where run = $1 order by seq",
      [run],
    );
    return {
      types: rows.flatMap(({ type }) => (type.startsWith("run.") ? [type] : [])),
      turns: rows.flatMap(({ type, turn }) => (type === "turn.ended" && turn !== null ? [turn] : [])),
    };
  };
  return {
    here,
    url,
    database,
    lines,
    recorded,
    run: (...args) => here.run([...args, "--engine", url]),
    worker: async () => {
      const worker = start("worker", "--poll", "20ms", "--slots", "4", "--grace", "300ms");
      await worker.until("takes tasks");
      return worker;
    },
    orphan: async (name, worker) => {
      const wait = `echo began >> ${name}; until [ -e ${name}.go ]; do sleep 0.1; done`;
      writeFileSync(
        join(here.workspace, `${name}.json`),
        script(bash(`echo first >> ${name}`), bash(wait), bash(wait), bash(wait), "done"),
      );
      const began = start("run", "bash", "x", "--model", `scripted:${name}.json`, "--json");
      await expect.poll(() => lines(name), LIMIT).toEqual(["first", "began"]);
      began.child.kill("SIGKILL");
      const [, id = ""] = /(run_[a-z0-9]{12})/.exec((await began.ended).stdout) ?? [];
      await skipSilence(began);
      await worker.until(`takes over ${id}`);
      await expect.poll(() => lines(name), LIMIT).toEqual(["first", "began", "began"]);
      return id;
    },
    ended: async (run) => {
      await expect.poll(async () => (await recorded(run)).types, LIMIT).toContain("run.ended");
    },
  };
}

test("a worker that ends hands the run that it took over to another worker, and no recorded turn is repeated", async () => {
  const site = await openSite(postgres.server());
  const first = await site.worker();
  const run = await site.orphan("a", first);
  const second = await site.worker();
  first.child.kill("SIGTERM");
  expect((await first.ended).code).toBe(143);
  // A run without an owner would wait for a person.
  expect(
    await site.database.query("select owner from subcrew.runs where run = $1 and owner is not null", [run]),
  ).toHaveLength(1);
  expect((await site.recorded(run)).types).not.toContain("run.paused");
  await expect
    .poll(async () => (await site.recorded(run)).types, { timeout: 60_000 })
    .toEqual(["run.started", "run.resumed", "run.resumed"]);
  await second.until(`takes over ${run}`);
  writeFileSync(join(site.here.workspace, "a.go"), "");
  await site.ended(run);
  expect(await site.recorded(run)).toEqual({
    types: ["run.started", "run.resumed", "run.resumed", "run.ended"],
    turns: [1, 2, 3, 4, 5],
  });
  expect(site.lines("a")).toEqual(["first", "began", "began", "began"]);
}, 120_000);

test("a run that the only worker took over waits for the next worker when it is drained; a paused or killed run does not", async () => {
  const site = await openSite(postgres.server());
  const first = await site.worker();
  const [run, paused] = [await site.orphan("b", first), await site.orphan("c", first)];
  const killed = await site.orphan("d", first);
  expect((await site.run("stop", paused)).code).toBe(0);
  first.child.kill("SIGSTOP"); // the stopped worker reads no commands any more
  const { code, stdout } = await site.run("kill", killed);
  expect([code, stdout]).toEqual([0, `${killed} was killed.\nnext: subcrew resume ${killed}\n`]);
  first.child.kill("SIGCONT");
  const [worker] = await site.database.query<{ id: string }>(
    "select id from subcrew.processes where role like '%work%'",
  );
  expect((await site.run("engine", "drain", worker!.id)).code).toBe(0);
  expect((await first.ended).code).toBe(0);
  expect((await site.recorded(run)).types).toEqual(["run.started", "run.resumed"]);
  // As if the process of the paused run had died right after it recorded the pause.
  await site.database.query("update subcrew.runs set owner = 'dead' where run = $1", [paused]);
  for (const name of ["b", "c", "d"]) writeFileSync(join(site.here.workspace, `${name}.go`), "");
  const next = await site.worker();
  await next.until(`takes over ${run}`);
  await site.ended(run);
  next.child.kill("SIGTERM");
  const { stderr } = await next.ended;
  expect(await site.database.query("select owner from subcrew.runs where run = $1", [paused])).toEqual([
    { owner: null },
  ]);
  expect([paused, killed].filter((id) => stderr.includes(id))).toEqual([]);
  expect([await site.recorded(run), await site.recorded(paused), await site.recorded(killed)]).toEqual([
    { types: ["run.started", "run.resumed", "run.resumed", "run.ended"], turns: [1, 2, 3, 4, 5] },
    { types: ["run.started", "run.resumed", "run.paused"], turns: [1, 2, 3] },
    { types: ["run.started", "run.resumed"], turns: [1, 2, 3] },
  ]);
}, 120_000);

test("a worker that is told to end while its database does not answer ends soon after its grace period", async () => {
  const { here, url } = await openSite(postgres.server());
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const between = createServer((socket) => {
    const server = connect(Number(port), hostname);
    for (const one of [socket, server]) {
      one.on("error", () => {});
      open.add(one);
    }
    socket.pipe(server).pipe(socket);
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  const through = new URL(url);
  through.port = String((between.address() as AddressInfo).port);
  const worker = here.start(["worker", "--engine", through.href, "--grace", "100ms"]);
  await worker.until("takes tasks");
  between.close();
  for (const socket of open) socket.destroy();
  worker.child.kill("SIGTERM");
  const { code, stderr } = await worker.ended;
  expect([code, stderr]).toEqual([143, expect.stringContaining("The database does not answer")]);
});
