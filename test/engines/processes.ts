import { refusedWith, type RunCommand } from "../../src/core/run/run-command.ts";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { KeptEvent } from "../../src/core/run/event.ts";
import type { RunStore } from "../../src/core/run/run-store.ts";
import { isAlive } from "../support/is-alive.ts";

/** A process that coordinates a run. */
export type Coordinator = Readonly<{
  pid: number;
  /** How it ended: the status of the run, or the code of the error that prevented it from coordinating. */
  ended: Promise<string>;
}>;

/** An engine used by several processes, in its own folder. */
export type EngineSite = Readonly<{
  /** The workspace. Its agent `worker` plays `turns.json` and has the tools of `performer-tools.mjs`. */
  folder: string;
  store: RunStore;
  /**
   * Starts a process that coordinates a run with one task, `worker`; with `resume`, a run that an earlier process
   * began.
   */
  coordinate(run: string, resume?: boolean): Coordinator;
  /** True when calls are executed in the process of the coordinator, so that both can only die together. */
  together: boolean;
  /**
   * The end of a call whose process died while the coordinator lives: another process continues it, or it fails as
   * crashed.
   */
  afterDeath: "goes on" | "CRASHED";
  /** Makes the coordinator of a run look dead to all others, although it lives. */
  bury(run: string): Promise<void>;
  close(): Promise<void>;
}>;

const RUN = "run_processes000";
const calls = (name: string, input: object = {}) => ({ text: `I call ${name}.`, calls: [{ name, input }] });
const never = new AbortController().signal;

/** The requirements for every engine when several processes take part. Each case is one run of one task. */
export function engineProcessSuite(name: string, make: () => Promise<EngineSite>): void {
  const on = async (turns: readonly unknown[]): Promise<Scene> => {
    const site = await make();
    writeFileSync(join(site.folder, "turns.json"), JSON.stringify(turns));
    onTestFinished(() => site.close());
    return sceneOf(site);
  };

  describe(`${name}, with several processes`, () => {
    test("if the process that executes a call is killed and the coordinator lives, the call continues or fails as crashed, and the run ends", async () => {
      const scene = await on([
        calls("note", { line: "one" }),
        calls("die_once"),
        calls("note", { line: "two" }),
        "Done.",
      ]);
      const { site, events } = scene;
      const first = site.coordinate(RUN);
      await scene.file("died");
      const status = site.together ? await (await first.ended, site.coordinate(RUN, true).ended) : await first.ended;
      const goesOn = site.together || site.afterDeath === "goes on";
      expect(status).toBe(goesOn ? "ok" : "failed");
      const all = await events();
      const ends = all.flatMap((event) => (event.type === "node.ended" ? [event.outcome] : []));
      expect(ends).toMatchObject([
        goesOn ? { status: "ok", output: "Done." } : { status: "failed", fault: { code: "CRASHED", retryable: true } },
      ]);
      expect(scene.notes()).toEqual(goesOn ? ["one", "two"] : ["one"]);
      expect(turnsIn(all)).toEqual(goesOn ? [1, 2, 3, 4] : [1, 2]);
    });

    test("an answer given by another process reaches the task", async () => {
      const scene = await on([calls("ask", { question: "Which one?" }), "So be it."]);
      const { ended } = scene.site.coordinate(RUN);
      const { path, call } = await scene.event("gate.opened");
      const answer = { approve: true, text: "the red one", by: "another process" };
      expect(await scene.tell({ do: "answer", path, answer, ...(call !== undefined && { call }) })).toBe(true);
      expect(await ended).toBe("ok");
      expect(await scene.events()).toContainEqual(
        expect.objectContaining({ type: "tool.ended", text: expect.stringContaining("the red one") }),
      );
      expect(await scene.tell({ do: "answer", path, answer })).toBe(false);
    });

    test("after a process was killed, the next one gets its records, requests no recorded turn and repeats no call", async () => {
      const scene = await on([
        calls("note", { line: "one" }),
        calls("hang_once"),
        calls("note", { line: "two" }),
        "Done.",
      ]);
      const first = scene.site.coordinate(RUN);
      await scene.file("hung");
      process.kill(first.pid, "SIGKILL");
      await first.ended;
      expect(await scene.site.coordinate(RUN, true).ended).toBe("ok");
      expect(scene.notes()).toEqual(["one", "two"]);
      expect(turnsIn(await scene.events())).toEqual([1, 2, 3, 4]);
    });

    test("a run that another process cancels ends at once, and so does the process that executes its task", async () => {
      const scene = await on([calls("hang_once"), "Never."]);
      const { ended } = scene.site.coordinate(RUN);
      const performer = await scene.file("hung");
      expect(await scene.tell({ do: "cancel", reason: "not wanted" })).toBe(true);
      expect(await ended).toBe("cancelled");
      expect((await scene.events()).at(-1)).toMatchObject({ type: "run.ended", outcome: { reason: "not wanted" } });
      await until(() => !isAlive(Number(performer)));
    });

    test("a process that is frozen, replaced and then continued adds nothing to the run", async () => {
      const scene = await on([calls("freeze_once"), calls("note", { line: "after" }), "Done."]);
      const { site } = scene;
      const first = site.coordinate(RUN);
      const performer = Number(await scene.file("frozen"));
      if (site.together) await site.bury(RUN);
      const status = site.together ? await site.coordinate(RUN, true).ended : await first.ended;
      const before = await scene.events();
      expect(before.filter(({ type }) => type === "run.ended")).toHaveLength(1);
      writeFileSync(join(site.folder, "thaw"), "");
      if (isAlive(performer)) process.kill(performer, "SIGCONT");
      if (site.together) expect(await first.ended).toBe("RUN_BUSY");
      await until(() => !isAlive(performer));
      expect(await scene.events()).toEqual(before);
      expect(scene.notes()).toEqual(status === "ok" ? ["after"] : []);
    });

    test("of two coordinators that claim one run, one gets the run, and the other gets an error", async () => {
      const scene = await on([calls("hang_once"), calls("note", { line: "once" }), "Done."]);
      const first = scene.site.coordinate(RUN);
      await scene.file("hung");
      expect(await scene.site.coordinate(RUN, true).ended).toBe("RUN_BUSY");
      process.kill(first.pid, "SIGKILL");
      await first.ended;
      const both = [scene.site.coordinate(RUN, true), scene.site.coordinate(RUN, true)];
      const said = await Promise.all(both.map(({ ended }) => ended));
      // The second process may also come after the first one is done; then it gets the result.
      expect(said.every((word) => word === "ok" || word === "RUN_BUSY") && said.includes("ok")).toBe(true);
      expect(scene.notes()).toEqual(["once"]);
      expect((await scene.events()).filter(({ type }) => type === "run.ended")).toHaveLength(1);
    });
  });
}

/** The view of a case on its run from this process. */
type Scene = Readonly<{
  site: EngineSite;
  events(): Promise<readonly KeptEvent[]>;
  /** Waits for the first event of a type. */
  event<T extends KeptEvent["type"]>(type: T): Promise<Extract<KeptEvent, { type: T }>>;
  tell(command: RunCommand): Promise<boolean>;
  /** Waits for a file that a tool writes, and returns its text. */
  file(name: string): Promise<string>;
  /** The lines that `note` has written. */
  notes(): string[];
}>;

function sceneOf(site: EngineSite): Scene {
  const events = async (): Promise<readonly KeptEvent[]> => (await site.store.readWhole(RUN)).events;
  return {
    site,
    events,
    event: async <T extends KeptEvent["type"]>(type: T) => {
      for (;;) {
        const found = (await events().catch(() => [])).find((event) => event.type === type);
        if (found) return found as Extract<KeptEvent, { type: T }>;
        await moment();
      }
    },
    tell: async (command) => {
      const ended = async () => {
        // While the run is owned, its owner may still write receipts.
        const isOver =
          (await site.store.owner(RUN)) === undefined && (await site.store.last(RUN))?.type === "run.ended";
        return isOver ? refusedWith("RUN_ENDED", "It has ended.") : undefined;
      };
      return (await site.store.post(RUN, command, { waitMs: 60_000, signal: never, ended }))?.state === "done";
    },
    file: async (name) => {
      await until(() => existsSync(join(site.folder, name)));
      return readFileSync(join(site.folder, name), "utf8");
    },
    notes: () => {
      const file = join(site.folder, "notes");
      return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
    },
  };
}

const turnsIn = (events: readonly KeptEvent[]): number[] =>
  events.flatMap((event) => (event.type === "turn.ended" ? [event.turn] : []));

const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await moment();
}
