import type { PerformContext } from "../core/engine.ts";
import { GRACE_MS } from "../core/limits.ts";
import type { Message, ModelRequest, ToolAnswer, ToolCall } from "../core/model.ts";
import { failed, type Fault, type Outcome, type Spent } from "../core/outcome.ts";
import { isFinishTool } from "../core/permit.ts";
import type { Assignment } from "../core/runner.ts";
import { fill } from "../core/template.ts";
import { addCost, addUsage, noCost, noUsage, type Cost, type Usage } from "../core/usage.ts";
import { formatDuration } from "../core/duration.ts";
import { prompts } from "../embedded.ts";
import { following, reasonOf, stopped } from "./cancel.ts";
import { finishSpec, finishText, finishWith, type Finish } from "./finish.ts";
import { mapLimited } from "./map-limited.ts";
import { callTool } from "./toolcall.ts";
import { toolSpecs } from "./toolkit.ts";
import { takeTurn, type Turn } from "./turn.ts";

/** Our own runner: the model and its tools take turns until a result is handed in or a limit ends it. */
export async function loop(assignment: Assignment, context: PerformContext): Promise<Outcome> {
  const talk = conversation(assignment, context);
  const clock = deadline(assignment, context);
  try {
    const outcome = await converse(assignment, talk, clock);
    return { ...outcome, ...talk.spent() };
  } finally {
    clock.stop();
  }
}

/** Turns until there is an outcome. A limit gets one grace turn, a missing or invalid result one repair. */
async function converse(assignment: Assignment, talk: Conversation, clock: Clock): Promise<Outcome> {
  let repaired = false;
  let last = "";
  for (;;) {
    const limit = clock.passed() ? `${formatDuration(assignment.limits.maxTimeMs)} of time` : talk.turns() >= assignment.limits.maxTurns ? `${assignment.limits.maxTurns} turns` : undefined;
    if (limit !== undefined) {
      const code = clock.passed() ? "TIMEOUT" : "MAX_TURNS";
      const enforced = talk.limitReached(code, limit);
      if (enforced) return talk.grace({ code, limit, last });
    }
    const turn = await talk.turn(clock.signal, "auto");
    if ("fault" in turn) return { status: "failed", fault: turn.fault, ...(last !== "" && { output: last }) };
    if ("aborted" in turn) {
      if (!clock.passed()) return { status: "cancelled", reason: clock.reason(), ...(last !== "" && { output: last }) };
      continue;
    }
    last = turn.text || last;
    const finish = await talk.answer(turn, clock.signal);
    if (finish === "more") continue;
    if ("output" in finish) return { status: "ok", ...finish };
    if ("gaveUp" in finish) return { ...failed("AGENT_REPORTED", finish.gaveUp), ...(last !== "" && { output: last }) };
    if (repaired) return unusable(finish, last);
    repaired = true;
    talk.repair(finish, turn);
  }
}

function unusable({ problem, empty }: { problem: string; empty: boolean }, last: string): Outcome {
  const outcome = empty ? failed("EMPTY", "The agent handed in nothing, also when asked again.", { retryable: true }) : failed("INVALID_OUTPUT", `The result is not valid: ${problem}.`, { retryable: true });
  return last === "" ? outcome : { ...outcome, output: last };
}

type Conversation = ReturnType<typeof conversation>;

/** The messages so far and what they cost; every turn and tool call of a task goes through here. */
function conversation(assignment: Assignment, context: PerformContext) {
  const { agent, model, limits, completion } = assignment;
  const messages: Message[] = [{ role: "user", text: assignment.prompt }];
  const used: Record<string, number> = {};
  let usage: Usage = noUsage();
  let cost: Cost = noCost();
  let turns = 0;
  let warned = false;
  const finishTool = completion === "text" ? [] : [finishSpec(assignment)];

  const turn = async (signal: AbortSignal, toolChoice: ModelRequest["toolChoice"], only?: "finish"): Promise<Turn> => {
    turns += 1;
    context.emit({ type: "turn.started", turn: turns, model: model.name });
    const request: ModelRequest = {
      model: model.id,
      system: assignment.system,
      messages: [...messages],
      tools: only === "finish" ? finishTool : [...toolSpecs(assignment.tools, assignment.rights), ...finishTool],
      toolChoice,
      ...(agent.thinking !== undefined && { thinking: agent.thinking }),
    };
    const result = await takeTurn(model.model, request, signal, context.live);
    if ("fault" in result || "aborted" in result) return result;
    usage = addUsage(usage, result.usage);
    cost = addCost(cost, result.cost);
    messages.push({ role: "assistant", text: result.text, calls: result.calls });
    context.emit({ type: "turn.ended", turn: turns, text: result.text, calls: result.calls, usage: result.usage, cost: result.cost });
    return result;
  };

  /** Executes the calls of a turn and says whether it ended the task. A finish call counts after its companions ran. */
  const answer = async (given: { text: string; calls: readonly ToolCall[] }, signal: AbortSignal): Promise<Finish | "more"> => {
    if (given.calls.length === 0) return completion === "tool" ? { problem: "the finish tool was not called", empty: given.text.trim() === "" } : finishText(given.text, assignment);
    const work = given.calls.filter(({ name }) => !isFinishTool(name) || completion === "text");
    const answers = await mapLimited(work, limits.maxConcurrentToolCalls, (call) => {
      used[call.name] = (used[call.name] ?? 0) + 1;
      return callTool(call, assignment, { ...context, signal });
    });
    const finishCall = given.calls.find((call) => !work.includes(call));
    const finish = finishCall && finishWith(finishCall.input, assignment);
    const results: ToolAnswer[] = given.calls.map((call) => answers[work.indexOf(call)] ?? receipt(call, call === finishCall ? finish : undefined));
    messages.push({ role: "tool", results });
    return finish ?? "more";
  };

  const repair = (finish: { problem: string; empty: boolean }, given: { calls: readonly ToolCall[] }): void => {
    if (given.calls.length > 0) return;
    const text = completion === "tool" ? prompts.remindFinish : finish.empty ? prompts.remindEmpty : fill(prompts.remindJson, new Map([["problem", finish.problem]]));
    messages.push({ role: "user", text });
  };

  /** Says that a limit was passed; true when it ends the work. */
  const limitReached = (limit: string, text: string): boolean => {
    if (!warned || limits.enforce) context.emit({ type: "limit.reached", limit, text: `The limit of ${text} was reached.`, enforced: limits.enforce });
    warned = true;
    return limits.enforce;
  };

  /** The one turn after a limit, in which only handing in is possible. */
  const grace = async ({ code, limit, last }: { code: "TIMEOUT" | "MAX_TURNS"; limit: string; last: string }): Promise<Outcome> => {
    messages.push({ role: "user", text: fill(prompts.grace, new Map([["limit", limit]])) });
    const { controller, release } = following(context.signal);
    const timer = setTimeout(() => controller.abort(stopped("the grace turn took too long")), GRACE_MS);
    const result = await turn(controller.signal, finishTool.length > 0 ? "required" : "auto", "finish");
    clearTimeout(timer);
    release();
    if (context.signal.aborted) return { status: "cancelled", reason: reasonOf(context.signal), ...(last !== "" && { output: last }) };
    const finish = "calls" in result ? await answer(result, context.signal) : "more";
    if (finish !== "more" && "output" in finish) return { status: "ok", ...finish };
    const fault: Fault = { code, message: `The task reached its limit of ${limit} without a result.`, hint: code === "TIMEOUT" ? "Allow more with --max-time." : "Allow more with --max-turns.", retryable: code === "TIMEOUT" };
    const partial = result.text || last;
    return { status: "failed", fault, ...(partial !== "" && { output: partial }) };
  };

  const spent = (): Spent => ({ usage, cost, model: model.name, tools: { ...used } });
  return { turn, answer, repair, grace, limitReached, spent, turns: () => turns };
}

/** What a model reads about its finish call when the talk goes on. */
function receipt(call: ToolCall, finish: Finish | undefined): ToolAnswer {
  const problem = finish && "problem" in finish ? finish.problem : undefined;
  return { id: call.id, name: call.name, text: problem === undefined ? "Received." : `Not accepted: ${problem}. Correct it and call again.`, error: problem !== undefined };
}

type Clock = Readonly<{ signal: AbortSignal; passed(): boolean; reason(): string; stop(): void }>;

/** The task's own deadline; when limits only warn, the time is noted and nothing is stopped. */
function deadline({ limits }: Assignment, context: PerformContext): Clock {
  const { controller, release } = following(context.signal);
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    if (limits.enforce) controller.abort(stopped("the task's time is up"));
  }, limits.maxTimeMs);
  return {
    signal: controller.signal,
    passed: () => passed,
    reason: () => reasonOf(context.signal),
    stop: () => {
      clearTimeout(timer);
      release();
    },
  };
}
