import type { Agent } from "../../core/agent/agent.ts";
import type { ModelWish } from "../../core/model/choose.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import type { ChosenModel } from "../../core/task/runner.ts";
import { chooseRunner, isForeign, strangeRunner, type TaskRunner } from "../../core/vocabulary/runner-name.ts";
import type { AssignedAgent, AssignRequest } from "./assign-agent.ts";
import { foreignModel } from "./foreign-model.ts";

/** Where a task runs, and on which model. */
export type AssignedModel = Readonly<{ runner: TaskRunner; model: ChosenModel }>;

/** Fourth step: chooses the runner, and the model that this runner can use. */
export async function assignModel(
  request: AssignRequest,
  { name, definition, limits }: Pick<AssignedAgent, "name" | "definition" | "limits">,
): Promise<AssignedModel | FailedOutcome> {
  const { call, emit } = request;
  const { task, depth } = call;
  const wishes = { task: task.runner, agent: definition.runner };
  const refusal = definition.remote ? undefined : strangeRunner(wishes, { depth, from: definition.source?.kind });
  if (refusal !== undefined)
    return failed("DENIED", `"${name}" cannot be handed to ${task.runner ?? definition.runner}: ${refusal}.`, {
      hint: "Name it yourself with --runner.",
    });
  const runner = definition.remote ? "a2a" : chooseRunner(wishes, { limits, depth });
  const model = await modelFor(request, { definition, runner });
  if ("status" in model) return model;
  for (const text of model.warnings ?? [])
    emit({ type: "warning", code: "MODEL_FALLBACK", text: `${name}: ${text} It runs on ${model.name}.` });
  return { runner, model };
}

async function modelFor(
  request: AssignRequest,
  { definition, runner }: Readonly<{ definition: Agent; runner: TaskRunner }>,
): Promise<ChosenModel | FailedOutcome> {
  if (definition.remote) return remoteModel(request, definition);
  if (isForeign(runner)) return foreignModel(runner, request.call.task.model, definition.model);
  return chooseModel(request, definition);
}

/**
 * The model that the call names, else the agent, else the parent, else the default. A model that a person names has to be
 * available; an agent whose model is not available gets the next one, with a warning.
 */
async function chooseModel(
  { call: { task, depth, parentModel }, world, emit }: AssignRequest,
  agent: Agent,
): Promise<ChosenModel | FailedOutcome> {
  const { thinking } = task;
  const isLocked =
    depth > 0 && task.model !== undefined && (agent.modelLock || world.settings.callersMayChoose === false);
  if (isLocked)
    emit({
      type: "warning",
      code: "MODEL_LOCKED",
      text: `${agent.name} keeps its own model: ${agent.modelLock ? "its file locks it" : "the settings let no agent choose"}.`,
    });
  const asked = isLocked ? undefined : task.model;
  const wishes: ModelWish[] = [
    ...(asked === undefined ? [] : [{ by: "call" as const, names: asked }]),
    ...(agent.model === undefined ? [] : [{ by: "agent" as const, names: agent.model }]),
    ...(parentModel === undefined ? [] : [{ by: "parent" as const, names: parentModel }]),
  ];
  const model = await world.models.choose(wishes, {
    retry: task.retry === undefined, // a retry rule of the task is the only one that counts
    ...bindingWish({ named: asked !== undefined && depth === 0, agent }),
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

/** A remote agent has its own model and tools; fields of the task that cannot reach it are reported. */
function remoteModel({ call: { task }, emit }: AssignRequest, { name }: Agent): ChosenModel {
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

/** Whose wish is that of a person, from the command line or the settings: it is met, or the task fails. */
function bindingWish({ named, agent }: { named: boolean; agent: Agent }): { binding?: "call" | "agent" } {
  if (named) return { binding: "call" };
  return agent.modelRequired ? { binding: "agent" } : {};
}
