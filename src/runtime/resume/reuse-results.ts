import type { Agent } from "../../core/agent/agent.ts";
import type { ToolCall } from "../../core/model/model.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import { type AllowedTools, allowedTools, permit } from "../../core/policy/permit.ts";
import type { Policy } from "../../core/policy/policy.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import { historyOf } from "../../core/run/history.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { taskContext } from "../../core/task/task-context.ts";
import { defined } from "../../core/text/defined.ts";
import { stableText } from "../../core/text/stable-text.ts";
import { classOf } from "../../core/vocabulary/tool-class.ts";
import { callTool } from "../loop/call-tool.ts";
import { sha256 } from "./recorded-agent.ts";

/** Results of earlier runs that can be reused, found by a hash of everything that they depend on. */
export type Reuse = Readonly<{
  /** The result of an earlier task with the same input and unchanged files; `undefined` when there is none. */
  find(key: string, assignment: Assignment, context: PerformContext): Promise<Outcome | undefined>;
  /** Adds a result to the index of results, where the store has one. */
  add(key: string, task: Readonly<{ run: string; path: string }>): Promise<void>;
}>;

/** Creates the reuse of results in a store. `always`: regardless of what the agent allows, as with --reuse. */
export function createReuse(
  store: RunStore,
  {
    always,
    redact,
    clock,
  }: { always: boolean; readonly redact: (text: string) => string; readonly clock: () => number },
): Reuse {
  return {
    find: async (key, assignment, context) => {
      const { cacheMs } = assignment.agent;
      const cached = cacheMs !== undefined && isReadOnly(assignment) ? cacheMs : undefined;
      if (!always && cached === undefined) return undefined;
      for (const { run, path } of [...(await store.reusable(key))].reverse()) {
        if (run === assignment.call.run) continue;
        const found = await resultOf(store, { run, path }, key);
        if (!found) continue;
        const isFresh = cached !== undefined && clock() - found.endedAt <= cached;
        // results are sorted newest first: if this one is too old, so are all others
        if (!always && !isFresh) return undefined;
        if (!(await readsTheSame(found.events, { assignment, context, redact, network: isFresh }))) continue;
        const { usage, cost } = found;
        context.emit({
          type: "node.reused",
          from: `${run}/${path}`,
          endedAt: found.endedAt,
          ...(usage && cost && { saved: { usage, cost } }),
        });
        return found.outcome;
      }
      return undefined;
    },
    add: async (key, { run, path }) => store.addReusable?.({ key, run, path, at: clock() }),
  };
}

/**
 * Key of a result: definition, input, instructions of the project, model, tools and folder, but not the files that it
 * read.
 */
export function reuseKey(assignment: Assignment): string {
  const key = keys.get(assignment) ?? keyOf(assignment);
  keys.set(assignment, key);
  return key;
}

/** Cache of keys: a key is used when its task starts and again when a result is searched. */
const keys = new WeakMap<Assignment, string>();
/** Cache: agents are never changed, and all tasks of one agent share the same object. */
const definitions = new WeakMap<Agent, string>();

function definitionText(agent: Agent): string {
  const known = definitions.get(agent);
  if (known !== undefined) return known;
  const { source: _source, documentation: _documentation, cacheMs: _cache, ...definition }: Agent = agent;
  const text = stableText(definition);
  definitions.set(agent, text);
  return text;
}

function keyOf({
  call,
  agent,
  rights,
  tools,
  model,
  completion,
  schema,
  prompt,
  projectInstructions,
  limits,
  toolContext,
  access,
}: Assignment): string {
  const { inputs, acceptSchema, acceptCommand } = call.task;
  const policy = access?.policy();
  const settings = {
    model: model.ref,
    completion,
    schema,
    prompt,
    images: call.task.images,
    projectInstructions,
    inputs,
    acceptSchema,
    acceptCommand,
    before: call.before,
    fork: call.fork && { system: call.fork.system, tools: call.fork.tools },
    maxTurns: limits.maxTurns,
    cwd: toolContext.cwd,
  };
  // The fields are always hashed in this order. If a caller writes the keys of a value in another order, the hash
  // differs, and the work is done again.
  return sha256(
    [
      definitionText(agent),
      allowedText(allowedTools(rights, tools)),
      JSON.stringify(settings),
      policy && policyText(policy),
    ].join("\n"),
  );
}

/** Caches: the policy and the rights never change, and all tasks of one agent share them. */
const policies = new WeakMap<Policy, string>();
const allowedTexts = new WeakMap<AllowedTools, string>();

function policyText(policy: Policy): string {
  const text = policies.get(policy) ?? JSON.stringify(policy);
  policies.set(policy, text);
  return text;
}

function allowedText(allowed: AllowedTools): string {
  const text = allowedTexts.get(allowed) ?? JSON.stringify(allowed.tools.toSorted());
  allowedTexts.set(allowed, text);
  return text;
}

/** True for an agent that can only read files and the web, and cannot change anything. */
function isReadOnly({ agent, tools, rights }: Assignment): boolean {
  if (agent.remote) return false; // it is unknown what a remote agent changes
  return [...tools.values()].every((tool) => {
    const does = classOf(tool);
    return !permit(rights, tool.name).allowed || (does !== "spawn" && (tool.effect === "read" || does === "none"));
  });
}

type Found = Pick<Outcome, "usage" | "cost"> &
  Readonly<{ outcome: Outcome; events: readonly KeptEvent[]; endedAt: number }>;

/** The result of a task, if the task was last started with this key. */
async function resultOf(
  store: RunStore,
  { run, path }: { run: string; path: string },
  key: string,
): Promise<Found | undefined> {
  const { events: all } = await store.readWhole(run).catch(() => ({ events: [] }));
  const events = historyOf(all).events(path);
  const begun = events.findLast((event) => event.type === "agent.resolved");
  const ended = events.findLast((event) => event.type === "node.ended");
  if (begun?.reuse !== key || ended?.outcome.status !== "ok") return undefined;
  const { output, data, model, usage, cost } = ended.outcome;
  return {
    ...defined({ usage, cost }),
    outcome: { status: "ok", output, ...defined({ data, model }) },
    events,
    endedAt: ended.at,
  };
}

/**
 * Events that prevent reuse: a person answered, or something was refused or cut short, so that the same task may now
 * have another result; or the result was itself reused, so that the files it read are recorded in another run.
 */
const UNREPEATABLE: ReadonlySet<string> = new Set([
  "node.reused",
  "message.sent",
  "gate.answered",
  "tool.denied",
  "tool.rejected",
  "tool.unknown",
  "limit.reached",
]);

/** Tools that only affect the task itself and always return the same result. */
const PURE: ReadonlySet<string> = new Set([
  "todo",
  "report_finding",
  "json_parse",
  "json_stringify",
  "base64_encode",
  "base64_decode",
  "notify",
]);

type Checking = Readonly<{
  assignment: Assignment;
  context: PerformContext;
  redact: (text: string) => string;
  /** True: earlier reads of the network are accepted without being repeated. */
  network: boolean;
}>;

/** Repeats everything that the earlier task read, under the current rules; any difference prevents reuse. */
async function readsTheSame(
  events: readonly KeptEvent[],
  { assignment, context, redact, network }: Checking,
): Promise<boolean> {
  const calls = new Map(
    events.flatMap((event) => (event.type === "turn.ended" ? event.calls.map((call) => [call.id, call] as const) : [])),
  );
  const silent = taskContext(context, { isOver: () => true });
  for (const event of events) {
    if (UNREPEATABLE.has(event.type)) return false;
    if (event.type !== "tool.ended" && event.type !== "tool.started") continue;
    const tool = assignment.tools.get(event.tool);
    const call = calls.get(event.call);
    if (PURE.has(event.tool)) continue;
    if (!tool || !call) return false;
    if (network && classOf(tool) === "net" && tool.effect === "read") continue;
    if (classOf(tool) !== "read" || tool.effect !== "read") return false;
    if (event.type === "tool.ended" && !(await answersTheSame(call, event, { assignment, silent, redact })))
      return false;
  }
  return true;
}

async function answersTheSame(
  call: ToolCall,
  before: { text: string; error: boolean },
  { assignment, silent, redact }: { assignment: Assignment; silent: PerformContext; redact: (text: string) => string },
): Promise<boolean> {
  const { text, error } = await callTool(call, assignment, silent);
  return redact(text) === before.text && error === before.error;
}
