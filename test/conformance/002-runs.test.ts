import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/core/agent/agent.ts";
import { type Crew, createCrew } from "../../src/crew.ts";
import { type ScriptedModel, scripted } from "../../src/models/scripted/scripted.ts";
import { DEFAULT_BACKGROUND_RUNS, reserveSlot } from "../../src/runtime/background/background-slots.ts";
import { whoWeAre } from "../../src/runtime/disk/run-claim.ts";
import { createStore, runId } from "../../src/runtime/store/store.ts";
import { place, script } from "../processes/command.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases } from "./harness.ts";

const explore: Agent = { name: "Explore", description: "Looks.", instructions: "Look.", tools: ["list_files"] };
const DAY = 24 * 60 * 60 * 1_000;

type Making = Readonly<{ home: string; model?: ScriptedModel; agents?: readonly Agent[]; clock?: () => number }>;
const crewAt = ({ home, model = scripted("R"), agents = [explore], clock = Date.now }: Making): Crew =>
  createCrew({ cwd: home, home, userHome: home, discover: false, agents, models: { m: model }, env: {}, clock });
const single = (task: string, agent = "Explore") => ({ mode: "single", agent, task }) as const;

type Store = Readonly<{
  expected_in_our_product?: string;
  error?: string;
  max_concurrent?: number;
  id_regex?: string;
  files?: string[];
}>;
const stored: Readonly<Record<string, (want: Store) => Promise<void>>> = {
  "a finished task written by another manager instance must be readable": async () => {
    const home = tempFolder();
    const run = crewAt({ home }).run(single("Find auth"));
    await run;
    const other = crewAt({ home });
    expect((await other.record(run.id)).outcome).toMatchObject({ status: "ok", output: "R" });
    expect((await other.kept.list({ all: true })).map(({ id, life }) => [id, life])).toEqual([[run.id, "ok"]]);
  },
  limits: async ({ error, max_concurrent }) => {
    expect(DEFAULT_BACKGROUND_RUNS).toBe(max_concurrent);
    const store = createStore(tempFolder());
    const work = async (): Promise<void> => {
      const folder = store.folder(runId(Math.random));
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "request.json"), "{}");
      writeFileSync(join(folder, "owner.1.json"), JSON.stringify(await whoWeAre()));
    };
    for (let n = 1; n < DEFAULT_BACKGROUND_RUNS; n += 1) await work();
    const leave = await reserveSlot(store, runId(Math.random), DEFAULT_BACKGROUND_RUNS);
    await leave();
    await work();
    await expect(reserveSlot(store, runId(Math.random), DEFAULT_BACKGROUND_RUNS)).rejects.toThrow(error!);
    expect(await store.list()).toHaveLength(DEFAULT_BACKGROUND_RUNS + 1); // who was refused leaves nothing
  },
  "id format": async ({ id_regex }) => {
    expect(crewAt({ home: tempFolder() }).run(single("x")).id).toMatch(new RegExp(id_regex!));
  },
  layout: async ({ files }) => {
    const at = place({ "a.json": script("R") });
    const { stdout } = await at.run(["run", "explore", "x", "--model", "scripted:a.json", "--bg", "--json"]);
    const { id, folder } = JSON.parse(stdout) as { id: string; folder: string };
    expect((await at.run(["wait", id])).code).toBe(0);
    const there = (): string[] =>
      readdirSync(folder).filter((name) => !/^(?:released|owner)\.|^control$|^\./.test(name));
    await expect.poll(there, { timeout: 120_000 }).toEqual(files);
  },
};

describe("background-store", () => {
  test.each(cases<object, Store>("002-mycode", "background-store"))("$name", async ({ name, want }) => {
    await stored[name]!(want);
  });
});

type Validity = Readonly<{ reason?: string; error?: string }>;
describe("resume-validation", () => {
  const all = cases<{ age_days?: number; resumeCount?: number; session?: null }, Validity>(
    "002-mycode",
    "resume-validation",
  );
  test.each(all.filter(({ want }) => want.reason !== undefined))("$name", async ({ input, want }) => {
    const home = tempFolder();
    let now = Date.now();
    const crew = (): Crew => crewAt({ home, clock: () => now });
    const run = crew().run(single("Find auth"));
    await run;
    const more = { run: run.id, prompt: "more", allowFailed: false };
    for (let n = 0; n < (input.resumeCount ?? 0); n += 1) {
      const { plan, continues } = await crew().continuing(more);
      expect((await crew().run(plan, { continues })).status).toBe("ok");
    }
    now += (input.age_days ?? 0) * DAY;
    const asked = input.session === null ? { ...more, run: "run_nothere00000" } : more;
    await expect(crew().continuing(asked)).rejects.toThrow(want.reason!);
  });
});

describe("result-cache", () => {
  const [life, key] = cases<{ ttl_default_ms?: number }, Record<string, unknown>>("002-mycode", "result-cache");
  const other: Agent = { ...explore, name: "Plan", description: "Plans.", cacheMs: life!.input.ttl_default_ms! };
  const cached: Agent = { ...explore, cacheMs: life!.input.ttl_default_ms! };
  const lab = () => {
    const home = tempFolder();
    let now = Date.parse("2026-01-01");
    const ask = async (task: string, agent = "Explore"): Promise<{ id: string; asked: boolean; output: string }> => {
      const model = scripted(`R of ${agent}`);
      const result = await crewAt({ home, model, agents: [cached, other], clock: () => now }).run(single(task, agent));
      return { id: result.id, asked: model.requests.length > 0, output: result.output };
    };
    return { home, ask, pass: (ms: number) => (now += ms) };
  };

  test(life!.name, async () => {
    const { home, ask, pass } = lab();
    const first = await ask("Find auth");
    expect(await ask("Find auth")).toMatchObject({ asked: false, output: "R of Explore" });
    expect((await ask("Find auth", "Plan")).asked).toBe(true);
    expect((await ask("Find something else")).asked).toBe(true);
    pass(life!.input.ttl_default_ms! + 1);
    expect((await ask("Find auth")).asked).toBe(true);
    const { kept } = crewAt({ home });
    for (const { id } of await kept.list({ all: true })) await kept.remove(id);
    expect((await ask("Find auth")).asked).toBe(true);
    expect(first.output).toBe("R of Explore");
  });

  test(key!.name, async () => {
    const { ask } = lab();
    for (const agent of ["Explore", "Plan"]) expect((await ask("Find auth", agent)).asked).toBe(true);
    for (const agent of ["Explore", "Plan"])
      expect(await ask("Find auth", agent)).toMatchObject({ asked: false, output: `R of ${agent}` });
  });
});
