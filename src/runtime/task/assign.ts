import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { Agent } from "../../core/agent/agent.ts";
import { inputProblem } from "../../core/agent/inputs.ts";
import { type Catalog, emptyCatalog } from "../../core/delegation/catalog.ts";
import { agentNameOf, agentOf } from "../../core/delegation/roster.ts";
import { atMaxDepth, delegationToolsOf, type Spawns } from "../../core/delegation/spawn.ts";
import type { ModelWish } from "../../core/model/choose.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import { movedInto } from "../../core/plan/isolation.ts";
import type { Task } from "../../core/plan/task.ts";
import { barred } from "../../core/policy/judge-call.ts";
import { isFinishTool, permit, type Rights } from "../../core/policy/permit.ts";
import type { Policy } from "../../core/policy/policy.ts";
import { jsonSchemaOf } from "../../core/schema/jtd.ts";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { Assignment, ChosenModel } from "../../core/task/runner.ts";
import { emptyScratchpad } from "../../core/task/scratchpad.ts";
import type { Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { fillInputs } from "../../core/text/input-template.ts";
import { version } from "../../core/text/version.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import { combineLimits } from "../../core/vocabulary/limits.ts";
import { chooseRunner, isForeign, strangeRunner, type TaskRunner } from "../../core/vocabulary/runner-name.ts";
import { classOf } from "../../core/vocabulary/tool-class.ts";
import {
  ALL_TOOLS,
  DELEGATION_TOOL,
  READ_ONLY_TOOLS,
  toolMatches,
  toolsNamed,
} from "../../core/vocabulary/tool-names.ts";
import { prompts } from "../../embedded.ts";
import { attachmentsOf, prefaceOf } from "./preface.ts";
import { foreignModel } from "./foreign-model.ts";
import { basePersona, buildSystemPrompt } from "./system-prompt.ts";
import { checkFor } from "./validate.ts";
import type { SchemaPrecedence, World } from "./world.ts";

/** Agent, overrides, limits, model and rights meet here, once. Below this line nobody merges. */
export async function assign(
  call: Call,
  world: World,
  emit: PerformContext["emit"],
): Promise<Assignment | FailedOutcome> {
  const { task } = call;
  const name = agentNameOf(task, world.roster);
  const found = agentOf(task, world.roster);
  if (!found)
    return failed("DENIED", `There is no agent "${name}".`, { hint: "See `subcrew agents` for those that are known." });
  const planning = world.access?.policyFor({ name }, call.policy).level === "plan";
  const whole = effective(found, call, world.schemaPrecedence);
  const agent = planning && call.depth > 0 ? inPlanMode(whole) : whole;
  const problem = inputProblem(agent.inputs ?? {}, task.inputs ?? {});
  if (problem !== undefined)
    return failed("BAD_INPUTS", `"${name}" cannot start: ${problem}.`, {
      hint: "See `subcrew agents show` for the inputs it takes.",
    });
  const wanted = (agent.tools ?? []).filter((tool) => !isFinishTool(tool));
  const delegation = await delegationOf(agent, call, world);
  const peers = await peersOf(agent, call, world, emit);
  const more = [...delegation.tools, ...peers].map((tool): [string, Tool] => [tool.name, tool]);
  const tools = new Map([...world.tools, ...more]);
  const own: Rights = { ...delegation.agent, delegation: delegation.tools.map((tool) => tool.name) };
  if (wanted.length > 0 && ![...tools.keys()].some((tool) => permit(own, tool).allowed)) {
    return failed("DENIED", `None of the tools of "${name}" exists here: ${wanted.join(", ")}.`, {
      hint: "Correct its tools, or list none to allow all.",
    });
  }
  const cwd = await folderFor(call, world);
  const env = passedEnv(world.env, world.passEnv);
  const desk = emptyScratchpad();
  const rights: Rights = {
    ...own,
    ...defined({ ceiling: call.ceiling }),
    barred: {
      ...(world.access && barredBy({ tools }, world.access.policyFor(agent, call.policy))),
      ...delegation.barred,
    },
  };
  const access = await world.access?.accessFor({
    ...call,
    agent,
    cwd,
    env: () => ({ ...env, ...Object.fromEntries(desk.env) }),
    commands: permit(rights, "bash").allowed && world.tools.has("bash"),
    note: ({ level, text }) =>
      emit(level === "full" ? { type: "note", text } : { type: "warning", code: "SANDBOX", text }),
  });
  if (world.access && !access)
    return failed("DENIED", `"${name}" may not work in ${cwd}: it lies outside of what this run may touch.`, {
      hint: "Name the folder with writableRoots, or start the run there.",
    });
  const limits = combineLimits(found.limits, task.resourceLimits);
  const wishes = { task: task.runner, agent: found.runner };
  const strange = found.remote ? undefined : strangeRunner(wishes, { depth: call.depth, from: found.source?.kind });
  if (strange !== undefined)
    return failed("DENIED", `"${name}" cannot be handed to ${task.runner ?? found.runner}: ${strange}.`, {
      hint: "Name it yourself with --runner.",
    });
  const runner: TaskRunner = found.remote ? "a2a" : chooseRunner(wishes, { limits, depth: call.depth });
  const model = found.remote
    ? elsewhere(found, task, emit)
    : isForeign(runner)
      ? foreignModel(runner, task.model, found.model)
      : await modelFor(call, found, world);
  if ("status" in model) return model;
  for (const text of model.warnings ?? [])
    emit({ type: "warning", code: "MODEL_FALLBACK", text: `${name}: ${text} It runs on ${model.name}.` });
  const schema = agent.output && jsonSchemaOf(agent.output);
  if (task.schema && found.output)
    emit({
      type: "warning",
      code: "SCHEMA_UNUSED",
      text:
        agent.output === found.output
          ? `${name} has an output schema of its own, so the one of the task is not used.`
          : `The task has an output schema, so the one of ${name} is not used.`,
    });
  const check = schema && (await checkFor(world.validator, schema));
  if (check && "broken" in check)
    return failed("INVALID_OUTPUT", `The output schema of "${name}" is no schema: ${check.broken}.`);
  const completion = agent.completion ?? (schema ? "tool" : "text");
  const instructions = instructionsFor(agent, task, {
    activeModel: model.name,
    today: new Date(world.clock()).toDateString(),
  });
  return {
    call,
    agent: model.thinking === undefined ? agent : { ...agent, thinking: model.thinking },
    rights,
    ...defined({ access }),
    model,
    tools,
    ...(delegation.tools.length > 0 && { catalog: delegation.catalog }),
    limits,
    runner,
    completion,
    ...(schema && check && { schema, validate: check }),
    system: buildSystemPrompt(basePersona, {
      instructions,
      completion,
      planMode: planning,
    }),
    instructions,
    prompt: promptFor(call),
    ...diagnosticsFor(agent, world),
    redact: world.redactor.known,
    keepLong: longResults(call, world),
    toolContext: {
      cwd,
      env,
      run: call.run,
      path: call.path,
      agent: agent.name,
      spawns: delegation.spawns,
      desk,
    },
  };
}

/**
 * The delegation tools of a task. At the deepest level they are still there, so that a call of one is refused with the
 * reason, but no model is shown them, and there is nobody left whom they could start.
 */
async function delegationOf(
  agent: Agent,
  { depth, maxDepth = -1 }: Call,
  { roster, delegation }: World,
): Promise<Delegating> {
  const spellings = delegationToolsOf(agent);
  if (!delegation || spellings.length === 0) return { agent, spawns: [], tools: [], barred: {}, catalog: emptyCatalog };
  const catalog = roster.catalog?.() ?? emptyCatalog;
  const deepest = atMaxDepth({ depth, maxDepth });
  const spawns = deepest ? [] : (agent.spawns ?? "*");
  const tools = await delegation(spellings, {
    agent: agent.name,
    spawns,
    depth,
    maxDepth,
    catalog,
    ...defined({ schema: agent.output }),
  });
  const rule = `no agent may start others below the depth of ${maxDepth}`;
  return {
    agent: agent.tools ? { ...agent, tools: [...agent.tools, DELEGATION_TOOL] } : agent,
    spawns,
    tools,
    catalog,
    barred: deepest ? { [DELEGATION_TOOL]: rule } : {},
  };
}

type Delegating = Readonly<{
  /** The agent with the right to them. */
  agent: Agent;
  spawns: Spawns;
  tools: readonly Tool[];
  barred: Readonly<Record<string, string>>;
  catalog: Catalog;
}>;

/** The agent as it works for somebody who only plans: it looks, and starts nobody. */
export function inPlanMode({ tools, ...agent }: Agent): Agent {
  const looking = tools === undefined || tools.includes(ALL_TOOLS) ? READ_ONLY_TOOLS : tools.filter(isLooking);
  return { ...agent, tools: looking, spawns: [] };
}

const isLooking = (tool: string): boolean => READ_ONLY_TOOLS.includes(tool) || isFinishTool(tool);

/** The folder a task works in: in its worktree, when it has one, the one that stands for the folder that is meant. */
async function folderFor({ task, worktree }: Call, { cwd }: World): Promise<string> {
  const wanted = task.cwd === undefined ? cwd : resolve(cwd, task.cwd);
  return worktree ? movedInto(worktree, await realpath(wanted).catch(() => wanted)) : wanted;
}

/** What servers outside offer to an agent. What they say about themselves counts only where a rule of the user trusts them. */
async function peersOf(
  agent: Agent,
  { run, ceiling, policy }: Call,
  { peers, access }: World,
  emit: PerformContext["emit"],
): Promise<readonly Tool[]> {
  if (!peers) return [];
  const allow = access?.policyFor(agent, policy).allow ?? [];
  return peers.toolsFor({
    agent,
    run,
    ...defined({ ceiling }),
    isTrusted: (tool) => allow.some((rule) => rule.pattern === undefined && toolMatches(rule.tool, tool)),
    say: (text, code = "MCP") => emit({ type: "warning", code, text }),
    signal: AbortSignal.timeout(PEERS_MS),
  });
}

/** How long servers have to start and to say what they offer. */
const PEERS_MS = 60_000;

/** The specialist for changes reads what the project's checker says, and whoever the settings name. */
function diagnosticsFor({ name }: Agent, { diagnostics }: World): Pick<Assignment, "diagnostics"> {
  const { agents = ["code"], ...checker } = diagnostics ?? {};
  return "command" in checker && agents.includes(name) ? { diagnostics: checker } : {};
}

/** The tools that a policy never allows, with the rule that says so: a model is not even shown them. */
export function barredBy({ tools }: Pick<World, "tools">, policy: Policy): Record<string, string> {
  return Object.fromEntries(
    [...tools.values()].flatMap((tool) => {
      const rule = barred(policy, { tool: tool.name, does: classOf(tool), effect: tool.effect });
      return rule === undefined ? [] : [[tool.name, rule]];
    }),
  );
}

/**
 * The agent as this task has it: what a person's task says replaces what the file says; what an agent's says only narrows
 * it. The schema of the agent comes before that of the call, which may be its parent's, unless somebody wants it otherwise.
 */
export function effective(
  agent: Agent,
  { task, depth }: Pick<Call, "task" | "depth">,
  precedence: SchemaPrecedence = "agent",
): Agent {
  const { thinking, systemPrompt, schema } = task;
  const output = precedence === "agent" ? (agent.output ?? schema) : (schema ?? agent.output);
  const named = task.tools?.flatMap((tool) => (toolsNamed(tool).length > 0 ? toolsNamed(tool) : [tool]));
  const tools = named && depth > 0 ? named.filter((tool) => permit(agent, tool).allowed) : named;
  const spelled = task.tools?.filter((tool) => facadeOf(tool) !== undefined) ?? [];
  return {
    ...agent,
    ...defined({ tools }),
    ...(spelled.length > 0 && { delegation: spelled }),
    ...defined({ thinking, instructions: systemPrompt, output }),
  };
}

/** The agent's words with its inputs filled in. Only what it declares, and what every agent may know, is a placeholder. */
function instructionsFor(
  { instructions, inputs = {} }: Agent,
  { inputs: given = {} }: Task,
  known: { activeModel: string; today: string },
): string {
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(inputs, name)));
  return fillInputs(instructions, { cliVersion: version, ...known, ...own });
}

/**
 * The model for a call: what it asks for, else its agent, else whoever started it, else the default. What a person asks
 * for has to be there; an agent that asks for something that is not there gets the next best, and that is said.
 */
async function modelFor(
  { task, depth, parentModel }: Call,
  agent: Agent,
  world: World,
): Promise<ChosenModel | FailedOutcome> {
  const { model: asked, thinking } = task;
  const wishes: ModelWish[] = [
    ...(asked === undefined ? [] : [{ by: "call" as const, names: asked }]),
    ...(agent.model === undefined ? [] : [{ by: "agent" as const, names: agent.model }]),
    ...(parentModel === undefined ? [] : [{ by: "parent" as const, names: parentModel }]),
  ];
  const model = await world.models.choose(wishes, {
    retry: task.retry === undefined, // a rule of the task's own is kept to the letter
    ...(depth === 0 && { binding: "call" as const }),
    ...(asked === undefined && thinking !== undefined && { thinking }),
  });
  if (!("misses" in model)) return model;
  const { code, hint } = model.misses[0] ?? { code: "UNKNOWN_MODEL", hint: "Name one with --model." };
  const because = model.misses.map((miss) => `${miss.name}: ${miss.because}`).join("; ");
  return failed(
    code === "MISSING_KEY" ? "MODEL_AUTH" : "MODEL_UNKNOWN",
    `No model is available for "${agent.name}": ${because}.`,
    { hint },
  );
}

/** An agent elsewhere has a model and tools of its own, of which we know nothing; what a task says about them does nothing. */
function elsewhere({ name }: Agent, task: Task, emit: PerformContext["emit"]): ChosenModel {
  const unused = (["model", "thinking", "tools", "systemPrompt", "runner"] as const).filter(
    (key) => task[key] !== undefined,
  );
  if (unused.length > 0)
    emit({
      type: "warning",
      code: "REMOTE_UNUSED",
      text: `${name} runs elsewhere, so these do nothing: ${unused.join(", ")}.`,
    });
  const fault = { code: "UNSUPPORTED" as const, message: `${name} runs elsewhere`, retryable: false };
  return {
    name: "a2a",
    id: "a2a",
    ref: "a2a",
    why: "it runs elsewhere",
    model: async function* () {
      yield { type: "error", fault };
    },
  };
}

function promptFor(call: Call): string {
  const attached = attachmentsOf(call);
  return [prefaceOf(call), call.task.prompt, ...(attached.length > 0 ? [prompts.attached, ...attached] : [])]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** How many characters of long tool results one task may leave behind in files. */
const MAX_KEPT_CHARS = 64 * 1_024 * 1_024;

/** Files for what tools answered at length: `outputs/task.look-1.md`. A disk that is full does not end a task. */
function longResults({ run, path }: Call, { keep }: World): NonNullable<Assignment["keepLong"]> {
  let count = 0;
  let left = MAX_KEPT_CHARS;
  return async (tool, text) => {
    if (text.length > left) return undefined;
    left -= text.length;
    count += 1;
    return keep(run, `${path}.${tool.replace(/[^\w-]/g, "_")}-${count}`, text).catch(() => undefined);
  };
}
