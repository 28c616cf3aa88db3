import { expect, test } from "vitest";
import {
  assignmentOf,
  callOf,
  forkOf,
  refusalOf,
  reportedIn,
  type WorldParts,
  worldOf,
} from "../../../test/support/task-world.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Agent } from "../../core/agent/agent.ts";
import type { Task } from "../../core/plan/task.ts";
import type { Fact } from "../../core/run/event.ts";
import { scripted } from "../../models/scripted/scripted.ts";
import { assign } from "./assign.ts";

const models = { first: scripted(), second: scripted(), third: scripted() };
const fork = forkOf(["look"], { model: "second" });
const forked = { depth: 1, fork };

test("the model of the call takes precedence over the agent's, then the parent's, then the default", async () => {
  const chosen = async (...given: Parameters<typeof assignmentOf>): Promise<string> =>
    (await assignmentOf(...given)).model.name;
  const started = { depth: 1, parentModel: "second" };
  const agent = { model: "third" };
  expect(await chosen({ models })).toBe("first");
  expect(await chosen({ models }, {}, started)).toBe("second");
  expect(await chosen({ models, agent }, {}, started)).toBe("third");
  expect(await chosen({ models, agent }, { model: "first" }, started)).toBe("first");
});

test("an unknown model is refused when the user names it, and replaced with a warning when the agent names it", async () => {
  expect(await refusalOf({ models }, { model: "fourth" })).toMatch(
    /^MODEL_UNKNOWN: No model is available for "worker": fourth: /,
  );
  const facts: Fact[] = [];
  const assigned = await assign(callOf(), worldOf({ models, agent: { model: "fourth" } }), (fact) => facts.push(fact));
  expect("status" in assigned ? assigned : assigned.model.name).toBe("first");
  expect(facts).toMatchObject([{ type: "warning", code: "MODEL_FALLBACK" }]);
});

test("a person's task for another program keeps the model it names, and otherwise leaves the choice to the program", async () => {
  const named = await assignmentOf({ models }, { runner: "codex", model: "gpt-5.2" });
  expect(named.model).toMatchObject({ name: "gpt-5.2", id: "gpt-5.2" });
  expect((await assignmentOf({ models }, { runner: "codex" })).model).toMatchObject({ name: "codex", id: "" });
});

test("an agent cannot hand the task of a helper to another program", async () => {
  expect(await refusalOf({}, { runner: "codex" }, { depth: 1 })).toBe(
    'DENIED: "worker" cannot run in codex: no agent may start another agent program on its own.',
  );
});

test("a resumed task runs on the model that it began on, or fails", async () => {
  const agent = { model: "third" };
  const begun = { recordedModel: "second", parentModel: "first" };
  expect((await assignmentOf({ models, agent }, { model: "first" }, begun)).model.name).toBe("second");
  expect(await refusalOf({ models, agent }, {}, { recordedModel: "gone" })).toMatch(
    /^MODEL_UNKNOWN: No model is available for "worker": gone: /,
  );
});

test("a model that the settings require is not replaced; a model that an agent names for its helper is replaced with a warning", async () => {
  expect(await refusalOf({ models, agent: { model: "fourth", modelRequired: true } })).toMatch(
    /^MODEL_UNKNOWN: .*fourth/,
  );
  const { assigned, facts } = await reportedIn(
    worldOf({ models }),
    { model: "fourth" },
    { depth: 1, parentModel: "second" },
  );
  expect(assigned.model.name).toBe("second");
  expect(facts).toMatchObject([{ type: "warning", code: "MODEL_FALLBACK" }]);
});

test("the refusal names a fix for the first model, and says that a key is missing", async () => {
  const refused = await assign(callOf({ model: "secnd" }), worldOf({ models }), () => {});
  expect(refused).toMatchObject({ fault: { hint: 'Did you mean "second"?' } });
  expect(await refusalOf({ models }, { model: "anthropic/claude-sonnet-4-5" })).toMatch(/^MODEL_AUTH: /);
});

test("an agent cannot choose the model of an agent whose file locks it, or if the settings forbid it; a person can", async () => {
  const locked = { model: "third", modelLock: true };
  const own = { settings: { cwd: tempFolder(), env: {}, callersMayChoose: false } };
  const chosen = async (parts: WorldParts, depth: number): Promise<unknown> => {
    const { assigned, facts } = await reportedIn(worldOf({ models, ...parts }), { model: "second" }, { depth });
    return [assigned.model.name, ...facts.map((fact) => fact.type === "warning" && fact.text)];
  };
  expect(await chosen({ agent: locked }, 1)).toEqual(["third", "worker keeps its own model: its file locks it."]);
  expect(await chosen(own, 1)).toEqual([
    "first",
    "worker keeps its own model: the settings do not let agents choose models.",
  ]);
  expect(await chosen({ agent: locked }, 0)).toEqual(["second"]);
  expect(await chosen(own, 0)).toEqual(["second"]);
  expect(await chosen({}, 1)).toEqual(["second"]);
  expect((await reportedIn(worldOf({ models, agent: locked }), {}, { depth: 1 })).facts).toEqual([]);
});

test("a thinking level in the task's own model name wins over the task's setting, and that setting wins over a level in the agent's model name", async () => {
  const level = async (agent: Partial<Agent>, task: Partial<Task>): Promise<unknown> => {
    const assigned = await assignmentOf({ models, agent }, task);
    return [assigned.agent.name, assigned.agent.thinking, assigned.model.thinking];
  };
  expect(await level({ model: "first:low" }, { thinking: "high" })).toEqual(["worker", "high", "high"]);
  expect(await level({ thinking: "high" }, { model: "first:low" })).toEqual(["worker", "low", "low"]);
  expect(await level({}, { model: "first:low", thinking: "high" })).toEqual(["worker", "low", "low"]);
  expect(await level({ thinking: "high" }, {})).toEqual(["worker", "high", undefined]);
});

test("failed turns are retried, unless the task has its own setting for that, also in a fork", async () => {
  const asked: unknown[] = [];
  const world = worldOf({ models });
  const choose: typeof world.models.choose = (wishes, options) => {
    asked.push(options?.retry);
    return world.models.choose(wishes, options);
  };
  const retry = { maxAttempts: 2, backoffMs: 0 };
  const calls = [callOf(), callOf({ retry }), callOf({}, forked), callOf({ retry }, forked)];
  for (const call of calls) await assign(call, { ...world, models: { choose } }, () => {});
  expect(asked).toEqual([true, false, true, false]);
});

test("a fork runs on the model of the conversation, and reports settings that have no effect", async () => {
  const { assigned, facts } = await reportedIn(worldOf({ models, agent: { model: "third" } }), {}, forked);
  expect(assigned.model).toMatchObject({ name: "second", why: "it starts from the conversation of run_test/lead" });
  expect(facts).toEqual([]);
  for (const [task, unused] of [
    [{ model: "third" }, "model"],
    [{ model: "third", thinking: "low" }, "model, thinking"],
  ] as const) {
    const more = await reportedIn(worldOf({ models }), task, forked);
    expect(more.assigned.model.name).toBe("second");
    expect(more.facts).toEqual([
      {
        type: "warning",
        code: "FORK_UNUSED",
        text: `worker starts from the conversation of "run_test/lead" and keeps its model and thinking, so these settings have no effect: ${unused}.`,
      },
    ]);
  }
  expect((await assignmentOf({ models }, {}, { fork })).model.name).toBe("second");
  expect((await assignmentOf({ models }, { model: "third" }, { fork })).model.name).toBe("third");
});

test("a fork is refused if its model is gone, if the settings require another one, or if it runs in another program", async () => {
  const gone = { depth: 1, fork: forkOf(["look"], { model: "fourth" }) };
  expect(await refusalOf({ models }, {}, gone)).toBe(
    'MODEL_UNKNOWN: The model fourth of "run_test/lead" is not available, so "run_test/lead" cannot be forked.',
  );
  const required = (...model: readonly string[]): WorldParts => ({ models, agent: { model, modelRequired: true } });
  expect(await refusalOf(required("first", "third"), {}, forked)).toBe(
    'UNSUPPORTED: "worker" has to run on first, third, and a fork of "run_test/lead" runs on second.',
  );
  expect(await refusalOf(required("first", "second"), {}, forked)).toBe("it was not refused");
  for (const agent of [{ runner: "codex" as const }, { remote: { cardUrl: "https://a.example/card" } }])
    expect(await refusalOf({ models, agent }, {}, forked)).toMatch(/^UNSUPPORTED: "worker" runs in another program/);
});

test("images are refused for a model that does not take them, and for an agent that runs in another program", async () => {
  const images = { images: [{ name: "a.png", type: "image/png", data: "" }] } as const;
  const named = (name: string): WorldParts => ({ models: { [name]: scripted() } });
  expect(await refusalOf(named("llama"), {}, images)).toBe("UNSUPPORTED: The model llama does not accept images.");
  expect(await refusalOf(named("llama"))).toBe("it was not refused");
  for (const name of ["claude", "m"]) expect(await refusalOf(named(name), {}, images)).toBe("it was not refused");
  for (const agent of [
    { runner: "codex" as const, model: "gpt-5.2" },
    { remote: { cardUrl: "https://a.example/card" } },
  ])
    expect(await refusalOf({ agent }, {}, images)).toBe(
      'UNSUPPORTED: "worker" runs in another program or on a server, and images cannot be sent to it.',
    );
});

test("a remote agent has its own model, and settings of the task for it are reported as unused", async () => {
  const agent = { remote: { cardUrl: "https://a.example/card" }, model: "third" };
  const plain = await reportedIn(worldOf({ models, agent }), {}, { depth: 1 });
  expect(plain.assigned).toMatchObject({ runner: "a2a", model: { name: "a2a", id: "a2a", ref: "a2a" } });
  expect(plain.facts).toEqual([]);
  for (const [task, unused] of [
    [{ runner: "codex" }, "runner"],
    [{ runner: "codex", model: "first" }, "model, runner"],
  ] as const) {
    const { assigned, facts } = await reportedIn(worldOf({ models, agent }), task, { depth: 1 });
    expect(assigned.runner).toBe("a2a");
    expect(facts).toEqual([
      {
        type: "warning",
        code: "REMOTE_UNUSED",
        text: `worker is a remote agent, so these settings have no effect: ${unused}.`,
      },
    ]);
  }
});
