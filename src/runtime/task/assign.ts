import { createHash } from "node:crypto";
import type { Agent } from "../../core/agent/agent.ts";
import type { FailedOutcome } from "../../core/outcome/outcome.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { assignAccess } from "./assign-access.ts";
import { assignAgent } from "./assign-agent.ts";
import { assignModel } from "./assign-model.ts";
import { assignPrompt } from "./assign-prompt.ts";
import { assignTools } from "./assign-tools.ts";
import type { World } from "./world.ts";

/**
 * Assigns a task once: agent, tools, access, model, prompt. Each step sees the results of the steps before it; the
 * first step that refuses ends the task. Later code does not merge settings.
 */
export async function assign(
  call: Call,
  world: World,
  emit: PerformContext["emit"],
): Promise<Assignment | FailedOutcome> {
  const request = { call, world, emit };
  const who = assignAgent(request);
  if ("status" in who) return who;
  const { name, agent, limits } = who;
  const granted = await assignTools(request, who);
  if ("status" in granted) return granted;
  const { tools, rights, spawns, catalog } = granted;
  const opened = await assignAccess(request, { name, agent, rights });
  if ("status" in opened) return opened;
  const { cwd, env, desk, access } = opened;
  const chosen = await assignModel(request, who);
  if ("status" in chosen) return chosen;
  const { runner, model } = chosen;
  const told = await assignPrompt(request, { ...who, rights, model, tools, cwd, ...defined({ access }) });
  if ("status" in told) return told;
  return {
    call,
    agent: sampledAs(agent, { call, model }),
    rights,
    model,
    tools,
    ...defined({ access, catalog }),
    limits,
    runner,
    ...told,
    ...cutFor(world),
    ...defined({ toolNames: world.settings.toolNames }),
    ...diagnosticsFor(agent, world),
    redact: world.redactor.known,
    keepLong: longResults(call, world),
    outputFile: ({ run, path }, outcome) => world.outputs.file(run, path, outcome),
    toolContext: { cwd, env, run: call.run, path: call.path, agent: agent.name, spawns, desk },
  };
}

/**
 * The agent with the thinking level of its model. In a forked conversation, it also gets the sampling settings of the
 * original agent.
 */
function sampledAs(agent: Agent, { call: { fork }, model }: Pick<Assignment, "call" | "model">): Agent {
  if (!fork) return model.thinking === undefined ? agent : { ...agent, thinking: model.thinking };
  const { thinking: _thinking, temperature: _temperature, topP: _topP, ...rest } = agent;
  return { ...rest, ...defined({ thinking: fork.thinking, temperature: fork.temperature, topP: fork.topP }) };
}

/** How much of a tool's result a model reads, if the settings limit it. */
function cutFor({ settings: { output } }: World): Pick<Assignment, "cut"> {
  const { maxBytes: bytes, maxLines: lines } = output ?? {};
  return bytes === undefined && lines === undefined ? {} : { cut: defined({ bytes, lines }) };
}

/** The project's checker, for the agents that read its report: `code`, or the agents that the settings name. */
function diagnosticsFor({ name }: Agent, { settings: { diagnostics } }: World): Pick<Assignment, "diagnostics"> {
  const { agents = ["code"], ...checker } = diagnostics ?? {};
  return "command" in checker && agents.includes(name) ? { diagnostics: checker } : {};
}

/** How many characters of long tool results one task may keep in files. */
const MAX_KEPT_CHARS = 64 * 1_024 * 1_024;

/** Stores long tool results in files such as `outputs/task.look-1.md`. If the disk is full, the task does not fail. */
function longResults({ run, path }: Call, { outputs }: World): NonNullable<Assignment["keepLong"]> {
  let count = 0;
  let left = MAX_KEPT_CHARS;
  /** The files by tool and hash: an equal result names the same file, so that a repeated call is noticed. */
  const kept = new Map<string, Promise<string | undefined>>();
  const keep = async (tool: string, text: string): Promise<string | undefined> => {
    if (text.length > left) return undefined;
    left -= text.length;
    count += 1;
    return outputs.keep(run, `${path}.${tool.replace(/[^\w-]/g, "_")}-${count}`, text).catch(() => undefined);
  };
  return (tool, text) => {
    const key = `${tool} ${createHash("sha256").update(text).digest("hex")}`;
    const file = kept.get(key) ?? keep(tool, text);
    kept.set(key, file);
    return file;
  };
}
