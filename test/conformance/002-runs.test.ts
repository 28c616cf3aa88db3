import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/core/agent/agent.ts";
import { createCrew } from "../../src/crew.ts";
import type { Crew } from "../../src/crew/crew-type.ts";
import { type ScriptedModel, scripted } from "../../src/models/scripted/scripted.ts";
import { DEFAULT_BACKGROUND_RUNS, reserveSlot } from "../../src/runtime/background/background-slots.ts";
import { whoWeAre } from "../../src/runtime/disk/process-claim.ts";
import { createFolderStore } from "../../src/runtime/store/folder-store.ts";
import { runId } from "../../src/runtime/store/run-id.ts";
import { place, script } from "../processes/command.ts";
import { call, stage } from "../support/stage.ts";
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
  "a finished task written by another manager instance must be readable": async (want) => {
    const home = tempFolder();
    const run = crewAt({ home }).run(single("Find auth"));
    await run;
    const other = crewAt({ home });
    const { outcome } = await other.record(run.id);
    const result = outcome?.status === "ok" ? outcome.output : "nothing";
    expect({ expected_in_our_product: `the task with result ${result}` }).toEqual(want);
    expect((await other.kept.list({ all: true })).map(({ id, life }) => [id, life])).toEqual([[run.id, "ok"]]);
  },
  limits: async ({ error, max_concurrent }) => {
    expect(DEFAULT_BACKGROUND_RUNS).toBe(max_concurrent);
    const store = createFolderStore(tempFolder());
    const work = async (): Promise<void> => {
      const folder = store.place(runId(Math.random));
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "request.json"), "{}");
      writeFileSync(join(folder, "owner.1.json"), JSON.stringify(await whoWeAre()));
    };
    for (let n = 1; n < DEFAULT_BACKGROUND_RUNS; n += 1) await work();
    const leave = await reserveSlot(store, runId(Math.random), DEFAULT_BACKGROUND_RUNS);
    await leave();
    await work();
    await expect(reserveSlot(store, runId(Math.random), DEFAULT_BACKGROUND_RUNS)).rejects.toThrow(error!);
    expect(await store.list()).toHaveLength(DEFAULT_BACKGROUND_RUNS); // a run that never began leaves no files
  },
  "id format": async ({ id_regex }) => {
    expect(crewAt({ home: tempFolder() }).run(single("x")).id).toMatch(new RegExp(id_regex!));
  },
  layout: async ({ files }) => {
    const at = place({ "a.json": script("R") });
    const { stdout } = await at.run(["run", "explore", "x", "--model", "scripted:a.json", "--bg", "--json"]);
    const { id, folder } = JSON.parse(stdout) as { id: string; folder: string };
    expect((await at.run(["wait", id])).code).toBe(0);
    // The process of the run writes its outputs while it ends, after the run itself has ended.
    const there = (): string[] => readdirSync(folder);
    await expect.poll(there, { timeout: 120_000 }).toContain("outputs");
    await expect.poll(there, { timeout: 120_000 }).toContainEqual(expect.stringMatching(/^released\./));
    expect(there().filter((name) => !/^(?:released|owner)\.|^control$|^\./.test(name))).toEqual(files);
  },
};

describe("background-store", () => {
  test.each(cases<object, Store>("002-mycode", "background-store"))("$name", async ({ name, want }) => {
    await stored[name]!(want);
  });
});

type Validity = Readonly<{ valid?: boolean; reason?: string; error?: string }>;
type Session = { age_days?: number; resumeCount?: number; session?: null; reason?: string };
describe("resume-validation", () => {
  test.each(cases<Session, Validity>("002-mycode", "resume-validation"))("$name", async ({ input, want }) => {
    if (input.reason !== undefined) return expect({ error: await refusalOfTask() }).toEqual(want);
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
    const answer = await crew()
      .continuing(asked)
      .then(
        (): Validity => ({ valid: true }),
        // The reason comes first; the id of the run may follow.
        (error: Error): Validity => ({ valid: false, reason: error.message.replace(/(?:: .*)?\.$/, "") }),
      );
    expect(answer).toEqual(want);
  });
});

/** The message that a model gets when it resumes an agent that does not exist. */
async function refusalOfTask(): Promise<string | undefined> {
  const input = { description: "d", prompt: "more", subagent_type: "Explore", resume: "run_nothere00000/Explore" };
  const { read } = await stage({
    lead: { tools: ["*", "Task"], delegation: ["Task"], says: [call("Task", input), "done"] },
    Explore: { says: [] },
  });
  return read("lead")[0];
}

describe("result-cache", () => {
  const [life, key] = cases<{ ttl_default_ms?: number }, Record<string, unknown>>("002-mycode", "result-cache");
  const ttl = life!.input.ttl_default_ms!;
  const other: Agent = { ...explore, name: "Plan", description: "Plans.", cacheMs: ttl };
  const cached: Agent = { ...explore, cacheMs: ttl };
  const lab = () => {
    const home = tempFolder();
    let now = Date.parse("2026-01-01");
    /** The result of an earlier run; null when the model was called. */
    const reused = async (task: string, agent = "Explore", says = "R"): Promise<string | null> => {
      const model = scripted(says);
      const result = await crewAt({ home, model, agents: [cached, other], clock: () => now }).run(single(task, agent));
      return model.requests.length > 0 ? null : result.output;
    };
    return { home, reused, pass: (ms: number) => (now += ms) };
  };

  test(life!.name, async () => {
    const { home, reused, pass } = lab();
    await reused("Find auth");
    const hit = await reused("Find auth");
    const other_type = await reused("Find auth", "Plan");
    pass(ttl / 2);
    const miss = await reused("Find something else");
    pass(ttl / 2 + 1);
    const younger = await reused("Find something else");
    const expired = await reused("Find auth");
    const { kept } = crewAt({ home });
    for (const { id } of await kept.list({ all: true })) await kept.remove(id);
    const after_invalidate = await reused("Find auth");
    const entries_after_expiry = [expired, younger].filter((result) => result !== null).length;
    expect({ hit, other_type, miss, expired, entries_after_expiry, after_invalidate }).toEqual(life!.want);
  });

  test(key!.name, async () => {
    const { reused } = lab();
    for (const agent of ["Explore", "Plan"]) expect(await reused("Find auth", agent, `R of ${agent}`)).toBeNull();
    const results = [await reused("Find auth", "Explore"), await reused("Find auth", "Plan")];
    const kept = ["Explore", "Plan"].filter((agent, at) => results[at] === `R of ${agent}`);
    expect({ expected: `${["no", "one", "two"][kept.length]} entries kept side by side` }).toEqual(key!.want);
  });
});
