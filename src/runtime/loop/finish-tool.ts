import type { ToolAnswer, ToolCall, ToolSpec } from "../../core/model/model.ts";
import { FINISH_TOOL } from "../../core/policy/permit.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { modelSchemaOf } from "../../core/schema/model-schema.ts";
import { fieldsOf, parsedObject, readings } from "../../core/schema/read-slips.ts";
import { gotText } from "../../core/schema/standard-schema.ts";
import { isRecord, JsonDepthError, parseJson, TOO_DEEP_JSON } from "../../core/text/json.ts";
import { showsNothing } from "../../core/text/sanitize.ts";

/** The result of an agent's attempt to return its result. */
export type FinishAttempt =
  | Readonly<{ output: string; data?: unknown }>
  | Readonly<{
      problem: string;
      empty: boolean;
      /** True for an answer without JSON where the result must be JSON. */
      isProse?: boolean;
      /** The problem with the wrong values, for the model. */
      detail?: string;
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
      properties: {
        [name]: schema ? modelSchemaOf(schema) : { type: "string", description: "the whole result, as text" },
      },
      required: [name],
    },
  };
}

type Finishing = Pick<Assignment, "schema" | "validate"> &
  Readonly<{ agent?: Pick<Assignment["agent"], "outputName"> }>;

/** Receives what was corrected in a result. */
type Report = (slips: string) => void;

/**
 * Extracts the result from the arguments of a call of the finish tool. Only these forms are accepted: `{result:
 * {data}}`, `{result: {error}}`, `{result}`, and the same forms with the name that the agent gives its result. With a
 * schema, the slips that `readings` corrects and fields without the argument around them are accepted, and reported.
 */
export function finishWith(input: unknown, assignment: Finishing, report: Report = () => {}): FinishAttempt {
  const parsed = parsedObject(input);
  if (typeof input === "string" && parsed === undefined) {
    const problem = "the arguments are not a JSON object";
    return { problem, detail: problem + gotText(input), empty: false };
  }
  const given = parsed ?? input;
  const attempt = finishOf(isRecord(given) ? given : {}, assignment, report);
  if (parsed !== undefined && "output" in attempt) report("the arguments were a JSON string");
  return attempt;
}

function finishOf(given: Readonly<Record<string, unknown>>, assignment: Finishing, report: Report): FinishAttempt {
  const names = [...new Set([assignment.agent?.outputName ?? "result", "result"])];
  const name = names.find((one) => Object.hasOwn(given, one));
  if (name === undefined && Object.keys(given).length > 0) {
    const problem = `the argument "${names[0]}" is missing`;
    return withoutArgument(given, assignment, { report, problem }) ?? { problem, empty: false };
  }
  const result = name === undefined ? undefined : given[name];
  const error = isRecord(result) && typeof result["error"] === "string" ? result["error"] : undefined;
  if (error !== undefined && !assignment.schema) return { gaveUp: error };
  const candidates = [result, ...(isRecord(result) && "data" in result ? [result["data"]] : [])];
  if (!assignment.validate) return asText(isBareData(result) ? result.data : (candidates.at(-1) ?? result));
  for (const candidate of candidates)
    if (!isNothing(candidate) && assignment.validate(candidate) === undefined) return accepted(candidate);
  if (isNothing(result)) return { problem: "the result is missing", empty: true };
  const read = readWithSlips(result, assignment, report);
  if ("output" in read) return read;
  if (error !== undefined) return { gaveUp: error };
  const bare = withoutArgument(given, assignment, { report, problem: "" });
  return bare && "output" in bare ? bare : read;
}

/** The result in arguments that are the fields of the result themselves; else `problem`, and what is wrong with them. */
function withoutArgument(
  given: Readonly<Record<string, unknown>>,
  { schema, validate, agent }: Finishing,
  { report, problem }: Readonly<{ report: Report; problem: string }>,
): FinishAttempt | undefined {
  if (!schema || !validate) return undefined;
  const fields = fieldsOf(schema);
  if (!Object.keys(given).some((key) => fields.has(key))) return undefined;
  const { value, slips } = readings(schema, given)[0]!;
  const wrong = validate(value, "with values");
  if (wrong !== undefined) return { problem, detail: `${problem}; ${wrong}`, empty: false };
  report([`"${agent?.outputName ?? "result"}" was missing around the fields`, ...slips].join("; "));
  return accepted(value);
}

/** The first reading of a value that matches the schema, or else the problem of the closest one. */
function readWithSlips(
  result: unknown,
  { schema, validate = () => undefined }: Finishing,
  report: Report,
): FinishAttempt {
  let [value, problem] = [result, validate(result) ?? ""];
  for (const reading of schema ? readings(schema, result) : []) {
    const wrong = validate(reading.value);
    if (wrong === undefined) {
      report(reading.slips.join("; "));
      return accepted(reading.value);
    }
    if (typeof reading.value === "object") [value, problem] = [reading.value, wrong];
  }
  const detail = validate(value, "with values");
  return { problem, empty: false, value, ...(detail !== undefined && detail !== problem && { detail }) };
}

const accepted = (data: unknown): FinishAttempt => ({
  output: typeof data === "string" ? data : JSON.stringify(data, null, 2),
  data,
});

/** True for `{data}` with nothing beside it: if its data is null, there is no result. */
const isBareData = (result: unknown): result is { data: unknown } =>
  isRecord(result) && Object.keys(result).length === 1 && "data" in result;

/** True for no value, and for an empty text, which is not a result even if the schema allows it. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "string" && showsNothing(value));

/** The result in the last message of a model that did not call the finish tool. */
export function finishText(text: string, assignment: Finishing, report?: Report): FinishAttempt {
  if (!assignment.validate) return asText(text);
  if (showsNothing(text)) return { problem: "the answer is empty", empty: true };
  const parsed = jsonIn(text);
  const finish: FinishAttempt =
    "problem" in parsed
      ? {
          problem: `the answer is ${parsed.problem}`,
          empty: false,
          isProse: parsed.problem !== TOO_DEEP_JSON,
          value: text,
        }
      : finishWith({ result: parsed.json }, assignment, report);
  // A schema that allows a text is met by the unchanged answer, even if that looks like other JSON.
  return "problem" in finish && assignment.validate(text) === undefined ? { output: text, data: text } : finish;
}

/**
 * Handles a last message of an agent that was expected to call the finish tool. An agent whose file asks for the tool
 * has to call it; if the tool is offered only because the task has a schema, a message that meets the schema is the
 * result, because small models often answer without the tool.
 */
export function finishWithoutTool(
  text: string,
  assignment: Finishing,
  isToolRequired: boolean,
  report?: Report,
): FinishAttempt {
  const finish = isToolRequired || !assignment.validate ? undefined : finishText(text, assignment, report);
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

/** Refuses a tool call in a turn in which only the result can be returned. */
export function onlyResultNow({ id, name }: ToolCall, emit: PerformContext["emit"]): ToolAnswer {
  const text = `DENIED: ${name} was not carried out; in this turn only returning the result was possible.`;
  const rule = "only returning the result is possible in the last turn";
  emit({ type: "tool.denied", call: id, tool: name, rule, text });
  return { id, name, text, error: true, denied: true };
}

/** The answer to a second call of the finish tool: only the first call in a turn counts. */
export function alreadyComplete({ id, name }: ToolCall, emit: PerformContext["emit"]): ToolAnswer {
  const text = "Task already marked complete in this turn. Ignoring duplicate call.";
  emit({ type: "tool.rejected", call: id, tool: name, reason: "the task was already marked complete", text });
  return { id, name, text, error: true };
}

/**
 * The tool result of a call of the finish tool after which the conversation continues: a confirmation, or why the
 * result was not accepted.
 */
export function receipt(
  { id, name }: ToolCall,
  finish: FinishAttempt | undefined,
  resultName: string,
  emit: PerformContext["emit"],
): ToolAnswer {
  if (!finish || !("problem" in finish)) return { id, name, text: "Received.", error: false };
  const { problem, empty, detail = problem } = finish;
  const isMissing = empty || problem === `the argument "${resultName}" is missing`;
  const text = isMissing
    ? missingText(resultName)
    : `Output validation failed: ${detail}. Correct it and call ${name} again.`;
  emit({ type: "tool.rejected", call: id, tool: name, reason: problem, text });
  return { id, name, text, error: true };
}

/** The message to the model about a call of the finish tool without a result, in the words of Gemini CLI. */
const missingText = (name: string): string =>
  name === "result"
    ? 'Missing required "result" argument. You must provide your findings when calling complete_task.'
    : `Missing required argument '${name}' for completion.`;
