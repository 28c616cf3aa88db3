import type { Agent } from "../../core/agent/agent.ts";
import { takesImages } from "../../core/model/images.ts";
import type { ModelWish } from "../../core/model/choose.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import type { ForkPoint } from "../../core/task/fork-point.ts";
import type { ChosenModel } from "../../core/task/runner.ts";
import { chooseRunner, isForeign, strangeRunner, type TaskRunner } from "../../core/vocabulary/runner-name.ts";
import type { AssignedAgent, AssignRequest } from "./assign-agent.ts";
import { foreignModel, modelOfOthers } from "./foreign-model.ts";

/** The runner that executes a task, and the model of the task. */
export type AssignedModel = Readonly<{ runner: TaskRunner; model: ChosenModel }>;

/** Fourth step of assigning a task: chooses the runner, and the model that this runner can use. */
export async function assignModel(
  request: AssignRequest,
  { name, definition, limits }: Pick<AssignedAgent, "name" | "definition" | "limits">,
): Promise<AssignedModel | FailedOutcome> {
  const { call, emit } = request;
  const { task, depth } = call;
  const wishes = { task: task.runner, agent: definition.runner };
  const refusal = definition.remote ? undefined : strangeRunner(wishes, { depth, from: definition.source?.kind });
  if (refusal !== undefined)
    return failed("DENIED", `"${name}" cannot run in ${task.runner ?? definition.runner}: ${refusal}.`, {
      hint: "Name the runner yourself with --runner.",
    });
  const runner = definition.remote ? "a2a" : chooseRunner(wishes, { limits, depth });
  const isElsewhere = runner === "a2a" || isForeign(runner);
  if (call.fork && isElsewhere)
    return failed(
      "UNSUPPORTED",
      `"${name}" runs in another program or on a server, so it cannot start from a conversation of subcrew.`,
      {
        hint: "Leave out `fork`, or run the agent in subcrew.",
      },
    );
  // a fork uses the model of the conversation that it starts from, unless a person's task names another one
  const keepsModel = depth > 0 || task.model === undefined;
  const model = await (call.fork && keepsModel
    ? forkedModel(request, definition, call.fork)
    : modelFor(request, { definition, runner }));
  if ("status" in model) return model;
  if (call.images && (isElsewhere || takesImages(model.id) === false))
    return failed(
      "UNSUPPORTED",
      isElsewhere
        ? `"${name}" runs in another program or on a server, and images cannot be sent to it.`
        : `The model ${model.name} does not accept images.`,
      {
        hint: "Leave the images out, or choose a model that accepts them, such as --model anthropic/claude-sonnet-4-5.",
      },
    );
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
 * Chooses the model that the task names, else the agent's, else the parent's, else the default. A model that a person
 * names has to be available. An agent whose model is not available gets the next model, with a warning.
 */
async function chooseModel(
  { call: { task, depth, parentModel, recordedModel }, world, emit }: AssignRequest,
  agent: Agent,
): Promise<ChosenModel | FailedOutcome> {
  const { thinking } = task;
  const isLocked =
    depth > 0 && task.model !== undefined && (agent.modelLock || world.settings.callersMayChoose === false);
  if (isLocked)
    emit({
      type: "warning",
      code: "MODEL_LOCKED",
      text: `${agent.name} keeps its own model: ${agent.modelLock ? "its file locks it" : "the settings do not let agents choose models"}.`,
    });
  const asked = isLocked ? undefined : task.model;
  const wishes: ModelWish[] = [
    ...(recordedModel === undefined ? [] : [{ by: "run" as const, names: recordedModel }]),
    ...(asked === undefined ? [] : [{ by: "call" as const, names: asked }]),
    ...(agent.model === undefined ? [] : [{ by: "agent" as const, names: agent.model }]),
    ...(parentModel === undefined ? [] : [{ by: "parent" as const, names: parentModel }]),
  ];
  const model = await world.models.choose(wishes, {
    retry: task.retry === undefined, // a task with its own retry setting is retried only as that setting says
    ...(recordedModel === undefined
      ? bindingWish({ named: asked !== undefined && depth === 0, agent })
      : { binding: "run" as const }),
    ...(asked === undefined && thinking !== undefined && { thinking }),
  });
  if (!("misses" in model)) return model;
  const { code, hint } = model.misses[0] ?? { code: "UNKNOWN_MODEL", hint: "Name a model with --model." };
  const because = model.misses.map((miss) => `${miss.name}: ${miss.because}`).join("; ");
  return failed(
    code === "MISSING_KEY" ? "MODEL_AUTH" : "MODEL_UNKNOWN",
    `No model is available for "${agent.name}": ${because}.`,
    { hint },
  );
}

/**
 * The model of the conversation that a forked subagent starts from, since only that model's cache has the conversation.
 * Settings of the task that have no effect are reported. If the user's settings require another model, that model is
 * kept.
 */
async function forkedModel(
  { call: { task }, world, emit }: AssignRequest,
  agent: Agent,
  { model: ref, task: from }: ForkPoint,
): Promise<ChosenModel | FailedOutcome> {
  const options = { binding: "parent", retry: task.retry === undefined } as const;
  const model = await world.models.choose([{ by: "parent", names: ref }], options);
  if ("misses" in model)
    return failed("MODEL_UNKNOWN", `The model ${ref} of "${from}" is not available, so "${from}" cannot be forked.`, {
      hint: "Leave out `fork`.",
    });
  if (agent.modelRequired && ![agent.model].flat().includes(ref))
    return failed(
      "UNSUPPORTED",
      `"${agent.name}" has to run on ${[agent.model].flat().join(", ")}, and a fork of "${from}" runs on ${ref}.`,
      {
        hint: "Leave out `fork`, or remove the model of this agent from the settings.",
      },
    );
  const unused = (["model", "thinking"] as const).filter((key) => task[key] !== undefined);
  if (unused.length > 0)
    emit({
      type: "warning",
      code: "FORK_UNUSED",
      text: `${agent.name} starts from the conversation of "${from}" and keeps its model and thinking, so these settings have no effect: ${unused.join(", ")}.`,
    });
  return { ...model, why: `it starts from the conversation of ${from}` };
}

/** Reports options of a task that have no effect on its remote agent: a remote agent has its own model and tools. */
function remoteModel({ call: { task }, emit }: AssignRequest, { name }: Agent): ChosenModel {
  const unused = (["model", "thinking", "tools", "systemPrompt", "runner"] as const).filter(
    (key) => task[key] !== undefined,
  );
  if (unused.length > 0)
    emit({
      type: "warning",
      code: "REMOTE_UNUSED",
      text: `${name} is a remote agent, so these settings have no effect: ${unused.join(", ")}.`,
    });
  return {
    name: "a2a",
    id: "a2a",
    ref: "a2a",
    why: "remote agent",
    model: modelOfOthers(`${name} is a remote agent`),
  };
}

/**
 * The request for a model that must be met, or the task fails: a request of a person, in the command line or the
 * settings.
 */
function bindingWish({ named, agent }: { named: boolean; agent: Agent }): { binding?: "call" | "agent" } {
  if (named) return { binding: "call" };
  return agent.modelRequired ? { binding: "agent" } : {};
}
