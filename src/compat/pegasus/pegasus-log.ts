import type { ToolCall } from "../../core/model/model.ts";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import { noCost, noUsage } from "../../core/outcome/usage.ts";
import { isRecord } from "../../core/text/json.ts";
import type { Fact, KeptEvent } from "../../core/run/event.ts";
import { followStates } from "./follow-states.ts";
import { isPegasusEvent } from "./pegasus-states.ts";

/** The agent of a task whose record in a pegasus log names no type. */
const DEFAULT_TYPE = "general";

type Data = Readonly<Record<string, unknown>>;

/** True for a line of a pegasus task log: `{ts, event, taskId, data}`. */
export function isPegasusRecord(line: unknown): line is Data {
  return isRecord(line) && typeof line["event"] === "string" && !("type" in line);
}

/**
 * The log of a pegasus task as the events of a run with one task, so that it is shown like any run. Records of unknown
 * types are skipped. A record that cannot follow the previous record is reported.
 */
export function eventsOfPegasusLog(run: string, lines: readonly unknown[]): KeptEvent[] {
  const events: KeptEvent[] = [];
  const isNext = followStates();
  const calls: ToolCall[] = [];
  let path = "task";
  let turn = 0;
  let attempt = 1;
  let at = 0;
  const put = (where: string, fact: Fact): void =>
    void events.push({ seq: events.length + 1, run, path: where, at, ...fact });
  const start = (agent: string, prompt: string, label: string): void =>
    put(path, { type: "node.started", attempt, kind: "task", agent, prompt, ...(label !== "" && { label }) });

  for (const [index, line] of lines.entries()) {
    if (!isPegasusRecord(line)) continue;
    const event = String(line["event"]);
    const data = isRecord(line["data"]) ? line["data"] : {};
    const text = (key: string): string => (typeof data[key] === "string" ? data[key] : "");
    at = timeOf(line["ts"]) ?? at;
    if (isPegasusEvent(event) && !isNext(event, data) && !events.some(({ type }) => type === "warning"))
      put("", {
        type: "warning",
        code: "LOG",
        text: `Record ${index + 1} (${event}) is out of order, so the states after it may be wrong.`,
      });
    const messages = Array.isArray(data["newMessages"]) ? data["newMessages"].filter(isRecord) : [];
    if (event === "REASON_DONE" || messages.some(({ role }) => role === "assistant")) {
      turn += 1;
      const turns = event === "REASON_DONE" ? 1 : 0; // pegasus counts only rounds of reasoning
      for (const fact of factsOfTurn(turn, messages, { turns, calls })) put(path, fact);
    }
    for (const fact of toolResults(messages, { calls, error: event === "TOOL_CALL_FAILED" })) put(path, fact);
    switch (event) {
      case "TASK_CREATED": {
        const agent = text("taskType") || DEFAULT_TYPE;
        const prompt = text("inputText");
        path = /^[\w-]+$/.test(agent) ? agent : "task";
        const plan = { nodes: { [path]: { kind: "task" as const, task: { agent, prompt } } }, output: path };
        const origin = { by: "pegasus", caller: text("source"), agent, context: run };
        put("", { type: "run.started", plan, cwd: "", version: "pegasus", origin });
        start(agent, prompt, text("description"));
        break;
      }
      case "TASK_NOTIFY":
        put(path, { type: "note", text: text("message") });
        break;
      case "NEED_MORE_INFO":
        put(path, { type: "note", text: noted("needs more information", questionIn(data)) });
        break;
      case "TASK_SUSPENDED": {
        const before = text("suspendedState");
        put(path, {
          type: "note",
          text: noted(before === "" ? "suspended" : `suspended while ${before}`, text("suspendReason")),
        });
        break;
      }
      case "TASK_RESUMED": {
        const before = events.findLast((one) => one.type === "node.started");
        if (events.at(-1)?.type === "node.ended" && before?.type === "node.started") {
          attempt += 1;
          start(before.agent ?? DEFAULT_TYPE, before.prompt ?? "", before.label ?? "");
        } else put(path, { type: "note", text: "resumed" });
        break;
      }
      case "TASK_COMPLETED":
        put(path, { type: "node.ended", outcome: { status: "ok", output: resultText(data["finalResult"]) } });
        break;
      case "TASK_FAILED":
        put(path, { type: "node.ended", outcome: failed("AGENT_REPORTED", text("error") || "It failed.") });
        break;
    }
  }
  const last = events.at(-1);
  if (last?.type === "node.ended") put("", { type: "run.ended", outcome: last.outcome satisfies Outcome });
  return events;
}

/** The text and the tool calls of one message; the calls are added to `calls`. */
function* factsOfTurn(
  turn: number,
  messages: readonly Data[],
  { turns, calls }: Readonly<{ turns: number; calls: ToolCall[] }>,
): Generator<Fact> {
  const said = messages.filter(({ role }) => role === "assistant");
  const made = said.flatMap(({ toolCalls }) =>
    Array.isArray(toolCalls) ? toolCalls.filter(isRecord).map(callOf) : [],
  );
  const text = said
    .map(({ content }) => contentText(content))
    .filter((part) => part !== "")
    .join("\n");
  calls.push(...made);
  yield { type: "turn.started", turn, model: "pegasus" };
  yield { type: "turn.ended", turn, text, calls: made, usage: { ...noUsage(), turns }, cost: noCost() };
}

/** The results of tools, which may be in a later record than their calls. */
function* toolResults(
  messages: readonly Data[],
  { calls, error }: Readonly<{ calls: readonly ToolCall[]; error: boolean }>,
): Generator<Fact> {
  for (const { role, content, toolCallId } of messages) {
    if (role !== "tool") continue;
    const call = calls.find(({ id }) => id === toolCallId) ?? { id: textOf(toolCallId), name: "tool" };
    yield { type: "tool.started", call: call.id, tool: call.name, preview: "", effect: "read" };
    yield { type: "tool.ended", call: call.id, tool: call.name, error, text: contentText(content), ms: 0 };
  }
}

const noted = (what: string, why: string): string => (why === "" ? what : `${what}: ${why}`);

/** The question in a record NEED_MORE_INFO. */
const questionIn = ({ reasoning }: Data): string => (isRecord(reasoning) ? textOf(reasoning["question"]) : "");

const callOf = ({ id, name, arguments: input }: Data): ToolCall => ({
  id: textOf(id),
  name: textOf(name) || "tool",
  input: input ?? {},
});

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const contentText = (content: unknown): string =>
  typeof content === "string" ? content : content === undefined || content === null ? "" : JSON.stringify(content);

/** The text of a tool result, which is `{ response }`, a text, or any other value. */
const resultText = (result: unknown): string =>
  contentText(isRecord(result) && typeof result["response"] === "string" ? result["response"] : result);

/** The time in a record: `ts` is in milliseconds, or a date as text. */
function timeOf(ts: unknown): number | undefined {
  const at = typeof ts === "number" ? ts : typeof ts === "string" ? Date.parse(ts) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}
