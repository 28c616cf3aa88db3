import type { Model, ModelEvent, ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { isFinishTool } from "../../core/policy/permit.ts";
import { messageOf } from "../../core/schema/error.ts";
import { estimatedUsage, written } from "../wires/estimate.ts";
import { type AnswerParts, answerText, stepsText, summaryText } from "./answer.ts";
import { handings, ownWork, relayed } from "./delegation.ts";
import { withoutEchoes } from "./echoes.ts";
import { evidenceFrom } from "./evidence.ts";
import { fillSchema } from "./fill.ts";
import { keyLines } from "./material.ts";
import { isDemand, questionOf, taskIndex } from "./question.ts";
import { sectionsOf } from "./report.ts";
import { nextCalls, type PlannedCall } from "./steps.ts";

/**
 * The model that is used when no other is available: it searches for the words of the question with the offered tools,
 * reads the best matches, and answers with quoted lines. No network, no disk, no memory, no reasoning: the same request
 * gives the same turn.
 */
export const offline: Model = async function* (request, signal) {
  try {
    signal.throwIfAborted();
    yield* spoken(request, turnFor(request));
  } catch (error) {
    const fault = signal.aborted
      ? { code: "MODEL_NETWORK" as const, message: "the turn was aborted", retryable: false }
      : {
          code: "MODEL_BAD_ANSWER" as const,
          message: `the offline model failed: ${messageOf(error)}`,
          retryable: false,
        };
    yield { type: "error", fault };
  }
};

/** What the offline model returns in one turn. */
type Turn = Readonly<{ text: string; calls: readonly PlannedCall[]; notice?: string }>;

function turnFor(request: ModelRequest): Turn {
  const { messages, tools, toolChoice } = request;
  const start = taskIndex(messages);
  const task = messages[start];
  const question = questionOf(task?.role === "user" ? task.text : "");
  const after = messages.slice(start + 1);
  const evidence = withoutEchoes(evidenceFrom(ownWork(tools, after), isFinishTool), question);
  const last = messages.at(-1);
  const finish = finishTool(request);
  const mustFinish =
    toolChoice === "none" ||
    (last?.role === "user" && messages.length - 1 > start && isDemand(last.text)) ||
    evidence.rejected > 0;
  const forced = typeof toolChoice === "object" ? toolChoice.tool : undefined;
  const handed = relayed(tools, after);
  const calls =
    mustFinish || handed !== undefined || (forced !== undefined && isFinishTool(forced))
      ? []
      : either(handings(question, tools, after), () => nextCalls({ question, evidence, tools }));
  if (calls.length > 0) return { text: "", calls: forced === undefined ? calls : only(forced, calls, request) };
  const answer: AnswerParts = {
    question,
    evidence,
    sections: sectionsOf(question, evidence),
    quoted: keyLines(question),
    canSearch: evidence.rounds.all > 0 || tools.some(({ name }) => SEARCH_TOOLS.includes(name)),
  };
  const text = handed ?? answerText(answer);
  const notice = question.wants === "review" ? { notice: UNREVIEWED } : {};
  if (finish === undefined || evidence.rejected > MOST_REJECTED) return { text, calls: [], ...notice };
  return { text: "", ...notice, calls: [{ name: finish.name, input: handedIn(finish, answer, text) }] };
}

/** Delegates to other agents if possible, and otherwise searches with its own tools. */
const either = (handed: readonly PlannedCall[], own: () => readonly PlannedCall[]): readonly PlannedCall[] =>
  handed.length > 0 ? handed : own();

const SEARCH_TOOLS: readonly string[] = ["grep_files", "glob", "list_files", "read_file"];
const MOST_REJECTED = 2;

const UNREVIEWED = "The offline model cannot review. It approves no work.";

/** When the request demands one certain tool, calls that tool, with made-up arguments if necessary. */
function only(forced: string, calls: readonly PlannedCall[], { tools }: ModelRequest): readonly PlannedCall[] {
  const fitting = calls.filter(({ name }) => name === forced);
  const spec = tools.find(({ name }) => name === forced);
  return fitting.length > 0 || spec === undefined
    ? fitting
    : [{ name: forced, input: objectFor(spec, emptyReport, false) }];
}

function finishTool({ tools }: ModelRequest): ToolSpec | undefined {
  return tools.find(({ name }) => isFinishTool(name));
}

/**
 * The arguments with which the offline model calls the finish tool; after its result was rejected, only the required
 * arguments.
 */
function handedIn(finish: ToolSpec, answer: AnswerParts, text: string): PlannedCall["input"] {
  const findings = answer.sections.flatMap((section) => section.findings);
  const report = {
    title: answer.question.text,
    text,
    summary: summaryText(answer),
    findings,
    quoted: answer.quoted,
    steps: stepsText(answer),
  };
  return objectFor(finish, report, answer.evidence.rejected > 0);
}

const emptyReport = { title: "", text: "", summary: "", findings: [], quoted: [], steps: [] };

function objectFor(
  spec: ToolSpec,
  report: typeof emptyReport | Parameters<typeof fillSchema>[1],
  bare: boolean,
): PlannedCall["input"] {
  const value = fillSchema(spec.input, report, { bare });
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function* spoken(request: ModelRequest, { text, calls, notice }: Turn): Generator<ModelEvent> {
  const turn = request.messages.filter(({ role }) => role === "assistant").length + 1;
  if (notice !== undefined) yield { type: "notice", code: "MODEL_OFFLINE", text: notice };
  if (text !== "") yield { type: "text", text };
  for (const [n, { name, input }] of calls.entries())
    yield { type: "call", call: { id: `offline_${turn}_${n + 1}`, name, input } };
  yield { type: "end", usage: estimatedUsage(request, text + written(calls)), cost: 0 };
}
