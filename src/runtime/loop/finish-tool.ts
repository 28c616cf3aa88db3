import type { ToolSpec } from "../../core/model/model.ts";
import { FINISH_TOOL } from "../../core/policy/permit.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { isRecord, JsonDepthError, parseJson, TOO_DEEP_JSON } from "../../core/text/json.ts";
import { showsNothing } from "../../core/text/sanitize.ts";

/** The result of an agent's attempt to return its result. */
export type FinishAttempt =
  | Readonly<{ output: string; data?: unknown }>
  | Readonly<{
      problem: string;
      empty: boolean;
      /** The result that was not valid. */
      value?: unknown;
    }>
  | Readonly<{ gaveUp: string }>;

/** The finish tool as a model sees it; its argument has the schema of the result. */
export function finishSpec({ schema, agent }: Pick<Assignment, "schema" | "agent">): ToolSpec {
  const name = agent.outputName ?? "result";
  return {
    name: FINISH_TOOL,
    description: "Returns the result and ends the task. Call it exactly once, when everything is done.",
    input: {
      type: "object",
      properties: { [name]: schema ?? { type: "string", description: "the whole result, as text" } },
      required: [name],
    },
  };
}

type Finishing = Pick<Assignment, "schema" | "validate"> &
  Readonly<{ agent?: Pick<Assignment["agent"], "outputName"> }>;

/**
 * Extracts the result from the arguments of a call of the finish tool. Only these forms are accepted: `{result:
 * {data}}`, `{result: {error}}`, `{result}`, and the same forms with the name that the agent gives its result.
 */
export function finishWith(input: unknown, assignment: Finishing): FinishAttempt {
  const given = isRecord(input) ? input : {};
  const names = [...new Set([assignment.agent?.outputName ?? "result", "result"])];
  const name = names.find((one) => Object.hasOwn(given, one));
  if (name === undefined && Object.keys(given).length > 0)
    return { problem: `the argument "${names[0]}" is missing`, empty: false };
  const result = name === undefined ? undefined : given[name];
  const error = isRecord(result) && typeof result["error"] === "string" ? result["error"] : undefined;
  if (error !== undefined && !assignment.schema) return { gaveUp: error };
  const candidates = [result, ...(isRecord(result) && "data" in result ? [result["data"]] : [])];
  if (!assignment.validate) return asText(isBareData(result) ? result.data : (candidates.at(-1) ?? result));
  let problem = "";
  let value: unknown;
  for (const candidate of candidates) {
    if (candidate === undefined || candidate === null || isBlank(candidate)) continue;
    const wrong = assignment.validate(candidate);
    if (wrong === undefined)
      return {
        output: typeof candidate === "string" ? candidate : JSON.stringify(candidate, null, 2),
        data: candidate,
      };
    if (problem === "") value = candidate;
    problem ||= wrong;
  }
  if (error !== undefined) return { gaveUp: error };
  const empty = problem === "" || isBlank(result);
  return empty ? { problem: "the result is missing", empty } : { problem, empty, value };
}

/** True for `{data}` with nothing beside it: if its data is null, there is no result. */
const isBareData = (result: unknown): result is { data: unknown } =>
  isRecord(result) && Object.keys(result).length === 1 && "data" in result;

/** True for an empty text, which is not a result even if the schema allows it. */
const isBlank = (value: unknown): boolean => typeof value === "string" && showsNothing(value);

/** The result in the last message of a model that did not call the finish tool. */
export function finishText(text: string, assignment: Finishing): FinishAttempt {
  if (!assignment.validate) return asText(text);
  if (showsNothing(text)) return { problem: "the answer is empty", empty: true };
  const parsed = jsonIn(text);
  const finish: FinishAttempt =
    "problem" in parsed
      ? { problem: `the answer is ${parsed.problem}`, empty: false, value: text }
      : finishWith({ result: parsed.json }, assignment);
  // A schema that allows a text is met by the unchanged answer, even if that looks like other JSON.
  return "problem" in finish && assignment.validate(text) === undefined ? { output: text, data: text } : finish;
}

/**
 * Handles a last message of an agent that was expected to call the finish tool. An agent whose file asks for the tool
 * has to call it; if the tool is offered only because the task has a schema, a message that meets the schema is the
 * result, because small models often answer without the tool.
 */
export function finishWithoutTool(text: string, assignment: Finishing, isToolRequired: boolean): FinishAttempt {
  const finish = isToolRequired || !assignment.validate ? undefined : finishText(text, assignment);
  if (finish && !("problem" in finish)) return finish;
  return { problem: "the finish tool was not called", empty: showsNothing(text) };
}

function asText(value: unknown): FinishAttempt {
  const isNothing = typeof value === "object" && (value === null || Object.keys(value).length === 0);
  const text =
    typeof value === "string" ? value : value === undefined || isNothing ? "" : JSON.stringify(value, null, 2);
  return showsNothing(text) ? { problem: "the result is empty", empty: true } : { output: text };
}

/** The JSON value in a text, alone or in a code block, or what is wrong with it. */
function jsonIn(text: string): Readonly<{ json: unknown } | { problem: string }> {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n```/.exec(text)?.[1];
  let problem = "not JSON";
  for (const candidate of [text, fenced]) {
    if (candidate === undefined) continue;
    try {
      return { json: parseJson(candidate) };
    } catch (error) {
      if (error instanceof JsonDepthError) problem = TOO_DEEP_JSON;
    }
  }
  return { problem };
}
