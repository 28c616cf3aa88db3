import type { Agent } from "../../src/core/agent/agent.ts";
import type { Model } from "../../src/core/model/model.ts";
import type { Task } from "../../src/core/plan/task.ts";
import type { Permissions } from "../../src/core/policy/permissions.ts";
import { createBudget } from "../../src/core/run/budget.ts";
import type { Fact } from "../../src/core/run/event.ts";
import { artifactOf } from "../../src/runtime/disk/artifact-of.ts";
import { createRedactor } from "../../src/core/secrets/redact.ts";
import type { Call, PerformContext } from "../../src/core/task/engine.ts";
import type { ForkPoint } from "../../src/core/task/fork-point.ts";
import type { Assignment } from "../../src/core/task/runner.ts";
import type { Tool } from "../../src/core/task/tool.ts";
import { createModelRegistry } from "../../src/models/registry/registry.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { createRunAccess } from "../../src/runtime/access/access.ts";
import { accessParts } from "../../src/runtime/access/crew-access.ts";
import { loop } from "../../src/runtime/loop/loop.ts";
import { assign } from "../../src/runtime/task/assign.ts";
import { createValidator } from "../../src/runtime/task/compile-schema.ts";
import type { World } from "../../src/runtime/task/world.ts";
import { tempFolder } from "./temp-folder.ts";

/** The call of a task that a person gave to the agent `worker`. */
export function callOf(task: Partial<Task> = {}, more: Partial<Call> = {}): Call {
  return {
    run: "run_test",
    path: "worker",
    attempt: 1,
    task: { prompt: "Do it.", agent: "worker", ...task },
    attachments: [],
    context: "",
    depth: 0,
    ...more,
  };
}

export type WorldParts = Partial<Omit<World, "tools" | "models" | "access">> &
  Readonly<{
    /** The fields of the agent `worker` besides its name and instructions. */
    agent?: Partial<Agent>;
    tools?: readonly Tool[];
    /** By name; the first is the default. */
    models?: Readonly<Record<string, Model>>;
    /** The permissions; if absent, the world has no access, and a careful policy judges. */
    permissions?: Permissions;
  }>;

const noFiles = { keep: async () => undefined, file: async () => undefined };

/** A world with the agent `worker`, subcrew's own loop, scripted models and a temporary workspace. */
export function worldOf({ agent, tools = [], models, permissions, ...more }: WorldParts = {}): World {
  const worker: Agent = { name: "worker", description: "works", instructions: "Work.", ...agent };
  const cwd = more.settings?.cwd ?? tempFolder();
  const folders = { cwd, home: tempFolder(), state: tempFolder(), env: {}, kept: false };
  const own = tools.map(({ name }) => name);
  return {
    roster: { find: (name) => (name === worker.name ? worker : undefined), names: () => [worker.name] },
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    models: createModelRegistry({ models: models ?? { m: scripted() } }),
    runner: loop,
    validator: createValidator(),
    settings: { cwd, env: {} },
    redactor: createRedactor([]),
    clock: () => 0,
    outputs: { recorded: async (_run, _path, text) => artifactOf(text), ...noFiles },
    ...(permissions && { access: createRunAccess(accessParts(permissions, folders, own)) }),
    ...more,
  };
}

/** The resolved task of `worker`; throws if it is refused. */
export async function assignmentOf(
  parts: WorldParts = {},
  task: Partial<Task> = {},
  more: Partial<Call> = {},
): Promise<Assignment> {
  const assigned = await assign(callOf(task, more), worldOf(parts), () => {});
  if ("status" in assigned) throw new Error(assigned.fault.message);
  return assigned;
}

/** The assignment of a task of `worker` in a world that several tasks may share, and the reported facts. */
export async function reportedIn(
  world: World,
  task: Partial<Task> = {},
  more: Partial<Call> = {},
): Promise<{ assigned: Assignment; facts: Fact[] }> {
  const facts: Fact[] = [];
  const assigned = await assign(callOf(task, more), world, (fact) => void facts.push(fact));
  if ("status" in assigned) throw new Error(assigned.fault.message);
  return { assigned, facts };
}

/** Why a task of `worker` is refused: the code and the sentence. */
export async function refusalOf(
  parts: WorldParts,
  task: Partial<Task> = {},
  more: Partial<Call> = {},
): Promise<string> {
  const assigned = await assign(callOf(task, more), worldOf(parts), () => {});
  return "status" in assigned ? `${assigned.fault.code}: ${assigned.fault.message}` : "it was not refused";
}

/** The conversation of the agent `lead`, with these tools, from which `worker` is forked. */
export function forkOf(tools: readonly string[], more: Partial<ForkPoint> = {}): ForkPoint {
  return {
    task: "run_test/lead",
    turn: 1,
    agent: "lead",
    model: "m",
    system: "You lead.",
    tools: tools.map((name) => ({ name, description: name, input: { type: "object" } })),
    messages: [{ role: "user", text: "Begin." }],
    prefix: { key: "k", chars: 0 },
    ...more,
  };
}

/**
 * The context of a task while it works, and the facts that it reported. No person is available unless `more` says so.
 */
export function contextOf(more: Partial<PerformContext> = {}): { context: PerformContext; facts: Fact[] } {
  const facts: Fact[] = [];
  const context: PerformContext = {
    signal: new AbortController().signal,
    emit: (fact) => void facts.push(fact),
    live: () => {},
    durable: async () => {},
    delegate: () => Promise.reject(new Error("nobody delegates in this test")),
    budget: createBudget({}),
    attended: false,
    ask: async () => undefined,
    mail: async () => [],
    tell: () => {},
    past: () => Promise.resolve([]),
    ...more,
  };
  return { context, facts };
}
