import { doneWith } from "../../src/core/run/run-command.ts";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { KeptEvent } from "../../src/core/run/event.ts";
import type { RunStore } from "../../src/core/run/run-store.ts";
import { type Database, openDatabase } from "../../src/engines/postgres/database.ts";
import { migrate, schemaState } from "../../src/engines/postgres/migrate.ts";
import { createPresence } from "../../src/engines/postgres/presence.ts";
import { announcementsArrive } from "../../src/engines/postgres/probe-announcements.ts";
import { createPostgresStore, type PostgresStore } from "../../src/engines/postgres/store.ts";
import { orphanedRuns } from "../../src/engines/calls/reaper.ts";
import { createFolderStore } from "../../src/runtime/store/folder-store.ts";
import { storeSuite } from "../runtime/store/suite.ts";
import { usePostgres } from "../support/postgres.ts";
import { sharedLimitsSuite } from "./shared-limits.ts";
import { tempFolder } from "../support/temp-folder.ts";

const postgres = usePostgres();
let url = "";
const opened: Database[] = [];

beforeAll(async () => {
  if (!postgres.isMissing()) url = await postgres.server().fresh();
}, 120_000);
afterAll(async () => {
  await Promise.all(opened.map((database) => database.close()));
}, 60_000);
beforeEach(async () => {
  if (url !== "") await database().query(EMPTY);
});

const EMPTY =
  "truncate subcrew.runs, subcrew.events, subcrew.commands, subcrew.outputs, subcrew.documents, subcrew.results, subcrew.artifacts, subcrew.run_agents, subcrew.processes, subcrew.leases, subcrew.quota, subcrew.model_requests, subcrew.holds, subcrew.probes";

/** Opens a second connection, which looks like another process to the database. */
function database(): Database {
  const made = openDatabase(url);
  opened.push(made);
  return made;
}
function storeOf(one = database()): PostgresStore {
  return createPostgresStore({
    database: one,
    presence: createPresence(one),
    local: createFolderStore(tempFolder()),
  });
}

storeSuite("a database", () => storeOf());
sharedLimitsSuite(database);

const RUN = "run_store0000000";
const quiet = { kept: () => {}, lost: () => {} };
const fact = (seq: number, text = `fact ${seq}`): KeptEvent => ({
  seq,
  run: RUN,
  path: "a",
  at: seq,
  type: "note",
  text,
});

describe("a database: many processes", () => {
  test("a run of another process can be listed, followed and commanded like a run of this process", async () => {
    const [here, there] = [storeOf(), storeOf()];
    const journal = await here.open(RUN, quiet);
    journal.append(fact(1));
    await journal.durable();
    await expect(there.open(RUN, quiet)).rejects.toMatchObject({ code: "RUN_BUSY" });
    const seen: number[] = [];
    const following = (async () => {
      for await (const { seq } of there.follow(RUN, {
        until: async () => seen.length === 2,
        signal: AbortSignal.timeout(20_000),
      }))
        seen.push(seq);
    })();
    journal.append(fact(2));
    await following;
    expect(seen).toEqual([1, 2]);
    await journal.close();
  });

  test("a watcher that stops reading does not slow the run, and other watchers see every event soon, in order", async () => {
    const journal = await storeOf().open(RUN, quiet);
    journal.append(fact(1));
    await journal.durable();
    const over = new AbortController();
    const followed = storeOf().follow(RUN, { until: async () => false, signal: over.signal });
    const stuck = followed[Symbol.asyncIterator]();
    await stuck.next(); // this watcher reads one event and then stops reading
    const lags: number[] = [];
    const watch = async (store: PostgresStore): Promise<number[]> => {
      const seen: number[] = [];
      const all = store.follow(RUN, { until: async (last) => last?.seq === 400, signal: AbortSignal.timeout(60_000) });
      for await (const { seq, at } of all) {
        seen.push(seq);
        if (seq > 1) lags.push(performance.now() - at);
      }
      return seen;
    };
    const watching = [storeOf(), storeOf(), storeOf()].map(watch);
    for (let seq = 2; seq <= 400; seq += 1) {
      journal.append({ ...fact(seq), at: performance.now() });
      if (seq % 40 === 0) await journal.durable();
    }
    await journal.durable();
    const wanted = Array.from({ length: 400 }, (_, at) => at + 1);
    expect(await Promise.all(watching)).toEqual([wanted, wanted, wanted]);
    expect(Math.max(...lags), "behind the journal, in ms").toBeLessThan(10_000);
    over.abort();
    await stuck.return?.(undefined);
    await journal.close();
  });

  test("a patch that one machine shares is identical, byte for byte, on another machine, also if its row is replaced", async () => {
    const [here, there] = [storeOf(), storeOf()];
    const patch = Buffer.from([0x2d, 0x63, 0x61, 0x66, 0xe9, 0x00, 0x0a, 0x2b]); // no UTF-8, and no line end
    writeFileSync((await here.file(RUN, "a", { kind: "patch" }))!, patch);
    await here.share(RUN, "a", "patch");
    const hash = createHash("sha256").update(patch).digest("hex");
    await there.keep(RUN, "a", "forged", "patch");
    await there.keep(RUN, "b", "forged");
    expect(readFileSync((await there.file(RUN, "a", { kind: "patch", hash }))!)).toEqual(patch);
    expect(await there.output(RUN, "b")).toBeUndefined(); // the output of a task is in its record only
    const file = (await there.file(RUN, "a", { kind: "patch" }))!;
    writeFileSync(file, "forged");
    const unknown = there.file(RUN, "a", { kind: "patch", hash: hash.replace(/^./, "x") });
    await expect(unknown).rejects.toMatchObject({ code: "RUN_DAMAGED" });
  });

  test("the output file that one process of a machine announced is written by the process that has the output, and deleted with the run", async () => {
    const home = tempFolder();
    const storeHere = (): PostgresStore => {
      const one = database();
      return createPostgresStore({ database: one, presence: createPresence(one), local: createFolderStore(home) });
    };
    const file = (await storeHere().file(RUN, ""))!;
    expect(readFileSync(file, "utf8")).toContain("has no result yet");
    const working = storeHere();
    await working.recorded(RUN, "", "the result");
    await working.recorded(RUN, "a", "of a task without a promised file");
    expect(readFileSync(file, "utf8")).toBe("the result\n");
    expect(readdirSync(dirname(file))).toEqual(["output.md"]);
    await working.remove(RUN);
    expect(existsSync(dirname(file))).toBe(false);
    await working.remove(RUN); // the removal needs no files on this machine
  });

  test.each([
    ["that is running", { type: "note", text: "works" }, "handed over"],
    ["that a person paused meanwhile", { type: "run.paused", reason: "stop" }, null],
    ["that was cancelled meanwhile", { type: "run.ended", outcome: { status: "cancelled", reason: "no" } }, null],
    ["that a person killed meanwhile", "kill", null],
  ])("a run %s is handed over to the next process only if it may continue without a person", async (_, last, owner) => {
    const [leaving, next] = [storeOf(), storeOf()];
    const journal = await leaving.open(RUN, quiet);
    const plan = { nodes: {}, output: "a" };
    const started = { seq: 1, run: RUN, path: "", at: 1, type: "run.started", plan, cwd: "/", version: "0" };
    journal.append(started as unknown as KeptEvent);
    leaving.handOver(RUN);
    if (typeof last === "string") expect(await leaving.disown!(RUN)).toBe(true);
    else journal.append({ seq: 2, run: RUN, path: "", at: 2, ...last } as unknown as KeptEvent);
    await journal.close();
    expect(await database().query("select owner from subcrew.runs where run = $1", [RUN])).toEqual([{ owner }]);
    // For four seconds after its start, the database considers no process dead.
    if (owner !== null) await expect.poll(() => orphanedRuns(database(), []), { timeout: 20_000 }).toEqual([RUN]);
    await (await next.open(RUN, quiet)).close(); // a living owner would refuse the new owner
  });

  test("a person can kill a run at any moment of a takeover: its process is notified without a database write, and no process resumes the run by itself", async () => {
    const [leaving, next, person] = [storeOf(), storeOf(), storeOf()];
    const lost: string[] = [];
    const open = async (store: PostgresStore): Promise<void> => {
      await store.open(RUN, { ...quiet, lost: (error) => lost.push(error.message) });
    };
    const journal = await leaving.open(RUN, quiet);
    journal.append(fact(1));
    leaving.handOver(RUN);
    await journal.close();
    // the run is killed after one process has released it and before the next one takes it over
    expect(await person.disown!(RUN)).toBe(true);
    expect(await person.disown!(RUN)).toBe(false);
    next.takeOver(RUN); // this process saw the run before the kill
    await expect(open(next)).rejects.toMatchObject({ code: "RUN_BUSY" });
    await open(next); // the person resumes the run, which needs no takeover
    expect(await person.disown!(RUN)).toBe(true);
    await expect.poll(() => lost).toEqual([`"${RUN}" was killed.`]);
    expect(await database().query("select owner from subcrew.runs")).toEqual([{ owner: null }]);
  });

  test("a process that only adds a record to a run that waits for a worker leaves the run waiting", async () => {
    const [leaving, touching] = [storeOf(), storeOf()];
    for (const [seq, store] of [leaving, touching].entries()) {
      const journal = await store.open(RUN, quiet);
      journal.append(fact(seq + 1));
      if (store === leaving) store.handOver(RUN);
      await journal.close();
      expect(await database().query("select owner from subcrew.runs")).toEqual([{ owner: "handed over" }]);
    }
  });

  test("a run whose process died after it confirmed `cancel` is cancelled by the next process, but not again when it is resumed", async () => {
    const [dying, next, person] = [storeOf(), storeOf(), storeOf()];
    const command = { do: "cancel" as const, reason: "enough" };
    const served = async (store: PostgresStore, isOver: boolean): Promise<readonly unknown[]> => {
      const heard: unknown[] = [];
      const stop = new AbortController();
      const serving = store.serve(RUN, async (one) => (heard.push(one), doneWith("yes")), stop.signal);
      if (!isOver)
        expect(
          await person.post(RUN, command, { waitMs: 30_000, signal: stop.signal, ended: async () => undefined }),
        ).toMatchObject({ state: "done" });
      stop.abort();
      await serving;
      return heard;
    };
    const first = await dying.open(RUN, quiet);
    first.append(fact(1));
    expect(await served(dying, false)).toEqual([command]);
    dying.handOver(RUN);
    await first.close();
    const second = await next.open(RUN, quiet);
    expect(await served(next, true)).toEqual([command]);
    expect(await person.waiting(RUN)).toEqual([]);
    second.append({ ...fact(2), type: "run.ended", outcome: { status: "cancelled", reason: "enough" } });
    await second.close();
    const third = await dying.open(RUN, quiet);
    expect(await served(dying, true)).toEqual([]);
    await third.close();
  });

  test("a process that signs off and returns at once does not count as dead, however slow the sign-off is", async () => {
    const one = database();
    const slow: Database = {
      ...one,
      query: async (sql, values) => {
        if (sql.startsWith("delete")) await new Promise((resolve) => setTimeout(resolve, 100));
        return one.query(sql, values);
      },
    };
    const presence = createPresence(slow);
    const leave = await presence.enter();
    const left = leave();
    const stay = await presence.enter();
    await left;
    expect(await one.query("select 1 from subcrew.processes where id = $1", [presence.id])).toHaveLength(1);
    await stay();
    expect(await one.query("select 1 from subcrew.processes where id = $1", [presence.id])).toHaveLength(0);
  });

  test("the run of a process without a heartbeat can be taken over; later writes of that process are refused, and it leaves commands alone", async () => {
    const one = database();
    const [ghost, next] = [storeOf(one), storeOf()];
    const lost: string[] = [];
    const old = await ghost.open(RUN, { ...quiet, lost: (error) => lost.push(error.message) });
    old.append(fact(1));
    await old.durable();
    await one.query("update subcrew.processes set beat = beat - interval '11 seconds'");
    const journal = await next.open(RUN, quiet);
    expect(await journal.read()).toEqual([fact(1)]);
    journal.append(fact(2));
    await journal.durable();
    old.append(fact(2, "of a ghost"));
    await expect(old.durable()).rejects.toMatchObject({ code: "RUN_BUSY" });
    expect(lost).toHaveLength(1);
    expect((await next.readWhole(RUN)).events).toEqual([fact(1), fact(2)]);
    const pauses = { do: "pause", reason: "lunch" } as const;
    await next.post(RUN, pauses, { waitMs: 0, signal: new AbortController().signal, ended: async () => undefined });
    const served: string[] = [];
    for (const [name, store] of Object.entries({ ghost, next }))
      await store.serve(RUN, async () => (served.push(name), doneWith("yes")), AbortSignal.abort());
    expect(served).toEqual(["next"]);
    await Promise.all([old.close(), journal.close()]);
  });

  test("texts with zero bytes and lone surrogates are stored unchanged", async () => {
    const store = storeOf();
    const odd = "a\u0000b \ud800 \u{1f600}";
    const journal = await store.open(RUN, quiet);
    journal.append(fact(1, odd));
    await journal.close();
    expect((await store.readWhole(RUN)).events).toEqual([fact(1, odd)]);
  });

  test("a database that restarts during a run loses no acknowledged record, and stores none twice", async () => {
    const store = storeOf();
    const kept: number[] = [];
    const journal = await store.open(RUN, { ...quiet, kept: (events) => kept.push(...events.map(({ seq }) => seq)) });
    for (let seq = 1; seq <= 300; seq += 1) {
      journal.append(fact(seq));
      if (seq === 100) await journal.durable();
      if (seq === 150) await postgres.server().server.crash();
    }
    await journal.durable();
    expect(kept).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
    expect((await store.readWhole(RUN)).events.map(({ seq }) => seq)).toEqual(kept);
    await journal.close();
  });

  test("the store notices whether notifications of the database arrive or a connection pooler drops them", async () => {
    const real = database();
    expect(await announcementsArrive(real)).toBe(true);
    const dropping = {
      query: real.query,
      bells: {
        ...real.bells,
        listen: (channel: string, ring: (payload: string | undefined) => void) =>
          real.bells.listen(channel, () => ring(undefined)),
      },
    };
    expect(await announcementsArrive(dropping)).toBe(false);
  });

  test("a missing record is reported to a reader, and the run is not resumed", async () => {
    const store = storeOf();
    const journal = await store.open(RUN, quiet);
    for (const seq of [1, 2, 3]) journal.append(fact(seq));
    await journal.close();
    await database().query("delete from subcrew.events where seq = 2");
    const damage: string[] = [];
    for await (const piece of store.read(RUN)) damage.push(...piece.damage);
    expect(damage).toEqual(["Record 2 is missing."]);
    await expect(store.readWhole(RUN)).rejects.toMatchObject({ code: "RUN_DAMAGED" });
  });
});

describe("the schema", () => {
  test("a database without tables is refused, and the error names the command that creates them", async () => {
    const bare = openDatabase(await postgres.server().empty());
    opened.push(bare);
    const store: RunStore = storeOf(bare);
    await expect(store.list()).rejects.toMatchObject({
      code: "ENGINE_OUTDATED",
      hint: expect.stringContaining("engine migrate"),
    });
    const both = await Promise.all([migrate(bare), migrate(bare)]);
    expect(both.filter((steps) => steps.length > 0)).toHaveLength(1);
    expect(await store.list()).toEqual([]);
    const { applied, known } = await schemaState(bare);
    expect(applied).toBe(known);
  });

  test("an address without a database gets an error of one sentence, without the password", async () => {
    const nobody = openDatabase("postgres://me:topsecret@127.0.0.1:1/none");
    const failure: unknown = await nobody.query("select 1").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "ENGINE_UNREACHABLE" });
    expect(String(failure)).not.toContain("topsecret");
    expect(() => openDatabase("mysql://somewhere")).toThrow(expect.objectContaining({ code: "BAD_INPUT" }));
  });
});
