import { describe, expect, test } from "vitest";
import type { KeptEvent } from "../../../src/core/run/event.ts";
import type { Outcome } from "../../../src/core/outcome/outcome.ts";
import { doneWith, refusedWith, type RunCommand } from "../../../src/core/run/run-command.ts";
import { deferred } from "../../../src/runtime/async/deferred.ts";
import { artifactOf } from "../../../src/runtime/disk/artifact-of.ts";
import type { LeaseOptions, RunStore, WorkspaceLease } from "../../../src/core/run/run-store.ts";

const RUN = "run_store0000000";
const OTHER = "run_store0000001";
const quiet = { kept: () => {}, lost: () => {} };
const never = new AbortController().signal;
const fact = (seq: number, run = RUN): KeptEvent => ({
  seq,
  run,
  path: "a",
  at: seq,
  type: "note",
  text: `fact ${seq}`,
});
const ended = (seq: number): KeptEvent => ({
  seq,
  run: RUN,
  path: "",
  at: seq,
  type: "run.ended",
  outcome: { status: "ok", output: "done" },
});

/** The requirements for every store of runs, in the words of `core/run/run-store.ts`. */
export function storeSuite(name: string, make: () => RunStore): void {
  /** Records facts as the owner of a run does, and closes the journal. */
  const record = async (store: RunStore, events: readonly KeptEvent[], run = RUN): Promise<void> => {
    const journal = await store.open(run, quiet);
    for (const event of events) journal.append(event);
    await journal.close();
  };
  /** Records the start of a task whose result has this key. */
  const begin = async (store: RunStore, at: number, key: string): Promise<void> => {
    const resolved = { type: "agent.resolved", agent: "a", hash: "h", model: "m", reuse: key } as const;
    await record(store, [{ seq: at, run: RUN, path: "a", at, ...resolved }]);
    await store.addReusable?.({ key, run: RUN, path: "a", at });
  };
  const numbers = async (store: RunStore): Promise<number[]> => {
    const all: number[] = [];
    for await (const { events } of store.read(RUN)) all.push(...events.map(({ seq }) => seq));
    return all;
  };

  describe(`${name}: records`, () => {
    test("the first and the last can be read alone", async () => {
      const store = make();
      await record(store, [fact(1), fact(2), fact(3)]);
      expect([(await store.first(RUN))?.seq, (await store.last(RUN))?.seq]).toEqual([1, 3]);
      expect(await numbers(store)).toEqual([1, 2, 3]);
      expect((await store.readWhole(RUN)).events).toEqual([fact(1), fact(2), fact(3)]);
    });

    test("runs are listed, the run that changed last first", async () => {
      const store = make();
      await record(store, [fact(1)]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await record(store, [fact(1, OTHER)], OTHER);
      expect(await store.list()).toEqual([OTHER, RUN]);
    });

    test("a run that does not exist has no records, and reading it is an error with a code", async () => {
      const store = make();
      expect([await store.first(RUN), await store.last(RUN), await store.owner(RUN)]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      await expect(store.readWhole(RUN)).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
      await expect(numbers(store)).rejects.toMatchObject({ code: "UNKNOWN_RUN" });
    });

    test("a follower gets the records after a number, then each new record, and ends when told", async () => {
      const store = make();
      const journal = await store.open(RUN, quiet);
      journal.append(fact(1));
      journal.append(fact(2));
      await journal.durable();
      const seen: number[] = [];
      for await (const event of store.follow(RUN, {
        after: 1,
        until: async (last) => last?.type === "run.ended",
        signal: never,
      })) {
        seen.push(event.seq);
        if (event.seq === 2) journal.append(fact(3));
        if (event.seq === 3) journal.append(ended(4));
      }
      await journal.close();
      expect(seen).toEqual([2, 3, 4]);
    });

    test("a follower whose signal aborts ends", async () => {
      const store = make();
      await record(store, [fact(1)]);
      const stop = new AbortController();
      for await (const _ of store.follow(RUN, { until: async () => false, signal: stop.signal })) stop.abort();
      expect(stop.signal.aborted).toBe(true);
    });

    test("a deleted run is gone with everything that was stored for it", async () => {
      const store = make();
      await record(store, [fact(1)]);
      await store.keep(RUN, "a", "text");
      await begin(store, 2, "k");
      expect((await store.measure(RUN)).bytes).toBeGreaterThan(10);
      await store.remove(RUN);
      await store.sweep();
      expect([await store.list(), await store.output(RUN, "a"), await store.reusable("k")]).toEqual([
        [],
        undefined,
        [],
      ]);
    });
  });

  describe(`${name}: ownership`, () => {
    test("a run has one owner at a time, and the owner can be looked up", async () => {
      const store = make();
      const journal = await store.open(RUN, quiet);
      expect((await store.owner(RUN))?.pid).toBe(process.pid);
      await expect(store.open(RUN, quiet)).rejects.toMatchObject({ code: "RUN_BUSY" });
      await journal.close();
      expect(await store.owner(RUN)).toBeUndefined();
      await (await store.open(RUN, quiet)).close();
    });

    test("a journal that is opened with records that were already read continues after these records", async () => {
      const store = make();
      await record(store, [fact(1)]);
      const known = await store.readWhole(RUN);
      const journal = await store.open(RUN, quiet, { known });
      expect(await journal.read()).toEqual([fact(1)]);
      journal.append(fact(2));
      await journal.close();
      expect(await numbers(store)).toEqual([1, 2]);
    });

    test("a run that is about to start is announced until the announcement is withdrawn, and leaves no trace", async () => {
      const store = make();
      const withdraw = await store.announce(RUN);
      expect(await store.isAnnounced(RUN)).toBe(true);
      await withdraw();
      expect([await store.isAnnounced(RUN), await store.list()]).toEqual([false, []]);
    });
  });

  describe(`${name}: commands`, () => {
    const pauses: RunCommand = { do: "pause", reason: "enough" };
    const yes = doneWith("It is.");
    const goesOn = async (): Promise<undefined> => undefined;

    test("the owner handles a command, and its sender gets the receipt", async () => {
      const store = make();
      const stop = new AbortController();
      const handled: RunCommand[] = [];
      const serving = store.serve(
        RUN,
        async (command) => {
          handled.push(command);
          return yes;
        },
        stop.signal,
      );
      expect(await store.post(RUN, pauses, { waitMs: 60_000, signal: never, ended: goesOn })).toEqual(yes);
      stop.abort();
      await serving;
      expect([handled, await store.waiting(RUN)]).toEqual([[pauses], []]);
    });

    test("a command without an owner waits for the next owner, and a postponed command is tried again", async () => {
      const store = make();
      expect(await store.post(RUN, pauses, { waitMs: 0, signal: never, ended: goesOn })).toBeUndefined();
      expect(await store.waiting(RUN)).toEqual([pauses]);
      const stop = new AbortController();
      let tries = 0;
      await store.serve(
        RUN,
        async () => {
          tries += 1;
          if (tries === 1) return undefined;
          stop.abort();
          return yes;
        },
        stop.signal,
      );
      expect([tries, await store.waiting(RUN)]).toEqual([2, []]);
    });

    test("with an aborted signal only waiting commands are handled", async () => {
      const store = make();
      await store.post(RUN, pauses, { waitMs: 0, signal: never, ended: goesOn });
      const handled: string[] = [];
      await store.serve(RUN, async (command) => (handled.push(command.do), yes), AbortSignal.abort());
      expect(handled).toEqual(["pause"]);
    });

    test("a command to an ended run is withdrawn, and the receipt says that the run has ended", async () => {
      const store = make();
      const late = refusedWith("RUN_ENDED", "The run has ended.");
      expect(await store.post(RUN, pauses, { waitMs: 60_000, signal: never, ended: async () => late })).toEqual(late);
      expect(await store.waiting(RUN)).toEqual([]);
    });
  });

  describe(`${name}: leases of a workspace`, () => {
    const wish = (run: string, globs: readonly string[], more: Partial<WorkspaceLease> = {}): WorkspaceLease => ({
      workspace: "/w",
      run,
      of: "edit",
      globs,
      ...more,
    });
    const options = (signal = never, waits: LeaseOptions["waits"] = () => {}): LeaseOptions => ({ waits, signal });

    test("two runs with the same files take turns, in the order of their requests, and report which run they wait for", async () => {
      const store = make();
      const order: string[] = [];
      const release = await store.lease(wish(RUN, ["src/**"]), options());
      const told = deferred<unknown>();
      const second = store.lease(wish(OTHER, ["src/a.ts"]), options(never, told.resolve)).then(async (free) => {
        order.push("second");
        await free?.();
      });
      expect(await told.promise).toEqual([{ task: "edit", files: ["src/**"], run: RUN }]);
      const third = store.lease(wish("run_third", ["src/*.ts"]), options()).then((free) => {
        order.push("third");
        return free?.();
      });
      order.push("first is released");
      await release?.();
      await Promise.all([second, third]);
      expect(order).toEqual(["first is released", "second", "third"]);
    });

    test("other files, and the same names in another folder, are free; a subfolder of the leased folder is not", async () => {
      const store = make();
      await store.lease(wish(RUN, ["src/**"]), options());
      expect(await store.lease(wish(OTHER, ["docs/**"]), options())).toBeDefined();
      expect(await store.lease(wish(OTHER, ["src/**"], { workspace: "/other" }), options())).toBeDefined();
      const stop = new AbortController();
      const below = store.lease(
        wish(OTHER, ["**"], { workspace: "/w/src/deep" }),
        options(stop.signal, () => stop.abort()),
      );
      expect(await below).toBeUndefined();
    });

    test("a run that stops waiting leaves the queue", async () => {
      const store = make();
      const release = await store.lease(wish(RUN, ["a"]), options());
      const stop = new AbortController();
      const told = deferred<unknown>();
      const waiting = store.lease(wish(OTHER, ["a"]), options(stop.signal, told.resolve));
      await told.promise;
      stop.abort();
      expect(await waiting).toBeUndefined();
      await release?.();
      expect(await store.lease(wish("run_third", ["a"]), options())).toBeDefined();
    });

    test("a nested run works within the lease of the task that started it, before other runs that wait for that lease", async () => {
      const store = make();
      await store.lease(wish(RUN, ["src/**"]), options());
      const stop = new AbortController();
      const told = deferred<unknown>();
      const waiting = store.lease(wish(OTHER, ["src/**"]), options(stop.signal, told.resolve));
      await told.promise;
      const nested = await store.lease(wish("run_nested", ["src/**"], { above: [`${RUN}/edit/deeper`] }), options());
      expect(nested).toBeDefined();
      stop.abort();
      await waiting;
    });
  });

  describe(`${name}: outputs and documents`, () => {
    test("an output is stored with its hash and size, and read back unchanged", async () => {
      const store = make();
      const hash = "d2d8a3547ed87a59bd66ca28402de461108a17edfc3c91d0fe1ecd44f25986b9";
      expect(await store.output(RUN, "lead/scout", { kind: "patch", hash })).toBeUndefined();
      expect(await store.keep(RUN, "lead/scout", "grün", "patch")).toEqual({ hash, bytes: 6 });
      const other = await store.keep(RUN, "lead/scout", "{}", "progress");
      expect(await store.output(RUN, "lead/scout", { kind: "patch", hash })).toBe("grün\n");
      expect(await store.output(RUN, "lead/scout", { kind: "progress", hash: other.hash })).toBe("{}\n");
      const image = `image-${hash}`;
      await store.keep(RUN, image, "data");
      expect(await store.output(RUN, image)).toBe("data\n");
    });

    test("a text that was replaced by another text is not read with the hash of the first", async () => {
      const store = make();
      const { hash } = await store.keep(RUN, "a", "first", "patch");
      await store.keep(RUN, "a", "second", "patch");
      const read = await store.output(RUN, "a", { kind: "patch", hash }).catch((error: { code: string }) => error.code);
      expect(["first\n", "RUN_DAMAGED"]).toContain(read); // a database has both texts
    });

    test("the output of a task is that of its last record, in full, and a task that has not ended has none", async () => {
      const store = make();
      const long = "line\n".repeat(50_000);
      const end = (seq: number, path: string, outcome: Outcome): KeptEvent => ({
        seq,
        run: RUN,
        path,
        at: seq,
        type: "node.ended",
        outcome,
      });
      const fault = { code: "EMPTY", message: "It said nothing.", hint: "Ask again.", retryable: true } as const;
      await record(store, [
        end(1, "a", { status: "ok", output: "first" }),
        end(2, "b", { status: "failed", fault }),
        end(3, "a", { status: "ok", output: long }),
        fact(4),
        ended(5),
      ]);
      const read = (path: string): Promise<string | undefined> => store.output(RUN, path);
      expect([await read("a"), await read("b"), await read("c"), await read("")]).toEqual([
        long,
        "failed: It said nothing.\nAsk again.\n",
        undefined,
        "done\n",
      ]);
    });

    test("the definitions of agents are stored by hash, once for all runs, and not deleted while a run carries them", async () => {
      const store = make();
      const texts = new Map(['{"name":"grün"}', "{}"].map((text) => [artifactOf(text).hash, text]));
      const [hash = ""] = texts.keys();
      const before = Date.now();
      await store.keepAgents(RUN, texts);
      await store.keepAgents(OTHER, texts);
      for (const run of [RUN, OTHER]) await record(store, [{ ...fact(1, run), at: before }], run);
      await store.remove(OTHER);
      await store.sweep();
      expect(await store.agentTexts([...texts.keys(), "0".repeat(64)])).toEqual(texts);
      expect(await store.agentTexts([hash])).toEqual(new Map([[hash, texts.get(hash)]]));
    });

    test("a document is replaced by the next one with its name", async () => {
      const store = make();
      await record(store, [fact(1)]);
      expect(await store.document(RUN, "request")).toBeUndefined();
      await store.setDocument(RUN, "request", "one");
      await store.setDocument(RUN, "request", "two");
      await store.setDocument(RUN, "a2a-push", "three");
      expect([await store.document(RUN, "request"), await store.document(RUN, "a2a-push")]).toEqual(["two", "three"]);
    });

    test("reusable results are found by their key, the oldest first, as soon as they are recorded", async () => {
      const store = make();
      await record(store, [fact(1)]);
      const entry = (at: number, key = "k") => ({ key, run: RUN, path: "a", at });
      await begin(store, 2, "k");
      expect(await store.reusable("k")).toEqual([entry(2)]);
      await begin(store, 3, "k");
      await begin(store, 4, "other");
      await record(store, [{ seq: 5, run: RUN, path: "a", at: 5, type: "note", text: '"reuse":"none"' }]);
      expect([await store.reusable("k"), await store.reusable("none")]).toEqual([[entry(2), entry(3)], []]);
    });
  });
}
