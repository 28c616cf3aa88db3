import type { Agent } from "../core/agent.ts";
import type { Call, PerformContext } from "../core/engine.ts";
import { inputProblem } from "../core/input-schema.ts";
import { fillInputs } from "../core/input-template.ts";
import { combineLimits } from "../core/limits.ts";
import { failed, type Failed } from "../core/outcome.ts";
import { isFinishTool, permit } from "../core/permit.ts";
import type { Assignment, ChosenModel } from "../core/runner.ts";
import type { Task } from "../core/task.ts";
import { toolsNamed } from "../core/tool-names.ts";
import { version } from "../core/version.ts";
import { resolve } from "node:path";
import { prompts } from "../embedded.ts";
import { basePersona, buildSystemPrompt } from "./system-prompt.ts";
import { checkFor } from "./validate.ts";
import { DEFAULT_AGENT, type World } from "./world.ts";

/** Agent, overrides, limits, model and rights meet here, once. Below this line nobody merges. */
export async function assign(call: Call, world: World, emit: PerformContext["emit"]): Promise<Assignment | Failed> {
  const { task } = call;
  const name = task.agent ?? DEFAULT_AGENT;
  const found = world.roster.find(name);
  if (!found) return failed("DENIED", `There is no agent "${name}".`, { hint: "See `subcrew agents` for those that are known." });
  const agent = effective(found, call);
  const problem = inputProblem(agent.inputs ?? {}, task.inputs ?? {});
  if (problem !== undefined) return failed("BAD_INPUTS", `"${name}" cannot start: ${problem}.`, { hint: "See `subcrew agents show` for the inputs it takes." });
  const wanted = (agent.tools ?? []).filter((tool) => !isFinishTool(tool));
  if (wanted.length > 0 && ![...world.tools.keys()].some((tool) => permit(agent, tool).allowed)) {
    return failed("DENIED", `None of the tools of "${name}" exists here: ${wanted.join(", ")}.`, { hint: "Correct its tools, or list none to allow all." });
  }
  const model = await chooseModel(task, found, world, emit);
  if ("status" in model) return model;
  const schema = agent.output;
  const check = schema && (await checkFor(world.validator, schema));
  if (check && "broken" in check) return failed("INVALID_OUTPUT", `The output schema of "${name}" is no JSON Schema: ${check.broken}.`);
  const completion = agent.completion ?? (schema ? "tool" : "text");
  return {
    call,
    agent,
    rights: { ...agent, ...(call.ceiling && { ceiling: call.ceiling }) },
    model,
    tools: world.tools,
    limits: combineLimits(found.limits, task.resourceLimits),
    completion,
    ...(schema && check && { schema, validate: check }),
    system: buildSystemPrompt(basePersona, { instructions: instructionsFor(agent, task, { activeModel: model.name, today: new Date(world.clock()).toDateString() }), completion }),
    prompt: promptFor(call),
    toolContext: { cwd: task.cwd === undefined ? world.cwd : resolve(world.cwd, task.cwd), env: world.env, path: call.path },
  };
}

/** The agent as this task has it: what a person's task says replaces what the file says; what an agent's says only narrows it. */
function effective(agent: Agent, { task, depth }: Call): Agent {
  const { thinking, systemPrompt, schema } = task;
  const output = agent.output ?? schema;
  const named = task.tools?.flatMap((tool) => (toolsNamed(tool).length > 0 ? toolsNamed(tool) : [tool]));
  const tools = named && depth > 0 ? named.filter((tool) => permit(agent, tool).allowed) : named;
  return {
    ...agent,
    ...(tools !== undefined && { tools }),
    ...(thinking !== undefined && { thinking }),
    ...(systemPrompt !== undefined && { instructions: systemPrompt }),
    ...(output !== undefined && { output }),
  };
}

/** The agent's words with its inputs filled in. Only what it declares, and what every agent may know, is a placeholder. */
function instructionsFor({ instructions, inputs = {} }: Agent, { inputs: given = {} }: Task, known: { activeModel: string; today: string }): string {
  const own = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(inputs, name)));
  return fillInputs(instructions, { cliVersion: version, ...known, ...own });
}

/** The first available of what the task, then the agent asks for. Only the task's own word is binding. */
async function chooseModel(task: Task, agent: Agent, world: World, emit: PerformContext["emit"]): Promise<ChosenModel | Failed> {
  const first = async (wish: string | readonly string[] | undefined): Promise<ChosenModel | undefined> => {
    for (const name of wish === undefined ? [] : [wish].flat()) {
      const model = await world.model(name);
      if (model) return model;
    }
    return undefined;
  };
  const asked = await first(task.model);
  if (asked) return asked;
  if (task.model !== undefined) return failed("MODEL_UNKNOWN", `The model ${[task.model].flat().join(", ")} is not available here.`, { hint: "Name another one with --model." });
  const own = await first(agent.model);
  if (own) return own;
  if (agent.model !== undefined) {
    emit({ type: "warning", code: "MODEL_FALLBACK", text: `${agent.name} asks for the model ${[agent.model].flat().join(", ")}, which is not available here; it runs on ${world.defaultModel}.` });
  }
  return (await world.model(world.defaultModel)) ?? failed("MODEL_UNKNOWN", `The model ${world.defaultModel} is not available here.`, { hint: "Name another one with --model." });
}

function promptFor({ task, attachments, context }: Call): string {
  const attached = attachments.map(({ title, text }) => `<result of="${title}">\n${text}\n</result>`);
  return [context, task.preface ?? "", task.prompt, ...(attached.length > 0 ? [prompts.attached, ...attached] : [])].filter((part) => part !== "").join("\n\n");
}
