import type { ToolCall } from "../../core/model/model.ts";
import { type FailedOutcome, failed, type Spending } from "../../core/outcome/outcome.ts";
import { codeOfLimit } from "../../core/outcome/reached-limit.ts";
import {
  addCost,
  addUsage,
  noCost,
  noUsage,
  nonNegative,
  nonNegativeUsage,
  type Usage,
} from "../../core/outcome/usage.ts";
import type { BudgetRefusal } from "../../core/run/budget.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { redactedPreview } from "../../core/task/preview.ts";
import { cutTail, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../../core/text/cut.ts";
import { defined } from "../../core/text/defined.ts";
import { addCount, isRecord } from "../../core/text/json.ts";
import { toolsNamed } from "../../core/vocabulary/tool-names.ts";
import type { ToolListener } from "./tool.ts";

/** Collects the output of another agent program and emits it as events of the task. */
export type Tally = ToolListener &
  Readonly<{
    spent(): Spending;
    /** The answer of the program: its explicit answer, or the text of the last turn. */
    output(): string;
    /** The error message of the program itself. */
    fault(): FailedOutcome | undefined;
    /** Ends a turn that is still open. */
    close(turn?: Parameters<ToolListener["turnEnded"]>[0]): void;
  }>;

type Options = Readonly<{
  context: PerformContext;
  /** The name of the agent program, and its model if that is known. */
  called: string;
  model: string;
  why: string;
  maxTurns: number;
  redact(text: string): string;
  /** Stops the program because a limit was reached. */
  stop(fault: FailedOutcome): void;
}>;

/** The limits on one turn of a program; a program that prints without end is stopped. */
const MOST_TEXT = 12_000_000;
const MOST_CALLS = 10_000;

const LOOKING = new Set([
  "read_file",
  "list_files",
  "glob",
  "grep_files",
  "http_get",
  "web_search",
  "todo",
  "get_file_info",
]);

function refusedBy(refusal: BudgetRefusal): FailedOutcome {
  const text = `The task was stopped: ${refusal.refused}.`;
  if ("unpriced" in refusal) return failed("BUDGET", text, { hint: "Limit the run with --max-tokens." });
  const { limit } = refusal;
  return { ...failed(codeOfLimit(limit), text, { hint: "Raise the limit of the run." }), limit };
}

/** Listens to one external agent program and emits the events of the task that the program performs. */
export function createTally({ context, called, model: given, why, maxTurns, redact, stop }: Options): Tally {
  let usage: Usage = noUsage();
  let cost = noCost();
  let model = given;
  let turn = 0;
  let open: { text: string; calls: ToolCall[] } | undefined;
  let last = "";
  let answer: string | undefined;
  let fault: FailedOutcome | undefined;
  let isCut = false;
  const tools: Record<string, number> = {};
  const running = new Map<string, Readonly<{ name: string; began: number }>>();

  const within = async (what: "maxTurns" | "maxToolCalls"): Promise<void> => {
    const refusal = await context.budget.count(what);
    if (refusal) stop(refusedBy(refusal));
  };
  const begun = (): { text: string; calls: ToolCall[] } => {
    if (open) return open;
    turn += 1;
    if (turn > maxTurns) {
      const hint = "Raise the limit with --max-turns.";
      const fault = failed("MAX_TURNS", `${called} was stopped at its limit of ${maxTurns} turns.`, { hint });
      stop({ ...fault, limit: { kind: "turns", value: maxTurns } });
    }
    within("maxTurns").catch(() => {});
    context.emit({ type: "turn.started", turn, model, ...(turn === 1 && { why }) });
    open = { text: "", calls: [] };
    return open;
  };
  /** Stops a program that does not end its turn, and ignores what it still prints. */
  const exceeded = (what: string): void => {
    if (isCut) return;
    isCut = true;
    stop(failed("INVALID_OUTPUT", `${called} was stopped: ${what}.`, { hint: "Split the task into smaller tasks." }));
  };
  /** Counts usage when it becomes known, which is only after the turn. A task that exceeds its budget is ended. */
  const book = async (tokens: number, usd: number | undefined): Promise<void> => {
    const wish = { tokens, ...defined({ usd }) };
    const reserved = await context.budget.reserve(wish, () => {}, context.signal);
    if ("settle" in reserved) reserved.settle(wish);
    else stop(refusedBy(reserved));
  };
  const ended: ToolListener["turnEnded"] = ({ text, usage: told = {}, usd: asked, model: other } = {}) => {
    const { text: heard, calls } = begun();
    const used = nonNegativeUsage(told);
    const usd = asked === undefined ? undefined : nonNegative(asked);
    const all = text ?? heard;
    const spent = addUsage(noUsage(), { contextTokens: (used.input ?? 0) + (used.cacheRead ?? 0), ...used, turns: 1 });
    const price = usd === undefined ? { usd: 0, unpriced: 1 } : { usd, unpriced: 0 };
    model = other ?? model;
    usage = addUsage(usage, spent);
    cost = addCost(cost, price);
    last = all || last;
    open = undefined;
    context.emit({ type: "turn.ended", turn, text: all, calls, usage: spent, cost: price, model });
    book(spent.input + spent.output + spent.cacheRead + spent.cacheWrite, usd).catch(() => {});
  };
  return {
    text: (piece) => {
      if (isCut) return;
      const now = begun();
      if (now.text.length + piece.length > MOST_TEXT)
        return exceeded(`the program wrote more than ${MOST_TEXT} characters in one turn`);
      now.text += piece;
      context.live({ type: "text.delta", text: piece });
    },
    thinking: (text) => {
      begun();
      context.live({ type: "thinking.delta", text });
    },
    call: ({ id, name, input = {} }) => {
      if (running.has(id) || isCut) return;
      const { calls } = begun();
      if (calls.length >= MOST_CALLS) return exceeded(`the program made more than ${MOST_CALLS} calls in one turn`);
      calls.push({ id, name, input });
      running.set(id, { name, began: performance.now() });
      addCount(tools, name);
      const known = toolsNamed(name)[0] ?? name;
      const preview = redactedPreview(known, isRecord(input) ? input : {}, redact);
      context.emit({
        type: "tool.started",
        call: id,
        tool: name,
        preview,
        effect: LOOKING.has(known) ? "read" : "write",
      });
      within("maxToolCalls").catch(() => {});
    },
    result: (id, { text, error = false }) => {
      const call = running.get(id);
      if (!call) return;
      running.delete(id);
      const { text: cut } = cutTail(redact(text), { bytes: MAX_OUTPUT_BYTES, lines: MAX_OUTPUT_LINES });
      const ms = Math.round(performance.now() - call.began);
      context.emit({
        type: "tool.ended",
        call: id,
        tool: call.name,
        error,
        text: cut,
        ms,
        status: error ? "failed" : "ok",
      });
    },
    turnEnded: ended,
    answer: (text) => {
      answer = text;
    },
    failed: (message, limit) => {
      fault ??= failed(limit ?? "AGENT_REPORTED", `${called} says: ${message}`);
    },
    close: (turn) => {
      if (open) ended(turn);
    },
    output: () => answer ?? (open?.text || last),
    fault: () => fault,
    spent: () => ({ usage, cost, model, tools: { ...tools } }),
  };
}
