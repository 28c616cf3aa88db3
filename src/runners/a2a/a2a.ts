import { randomUUID } from "node:crypto";
import {
  extractMessageText,
  extractTaskText,
  foldRemote,
  isFinal,
  isOver,
  nextIds,
  type RemoteAnswer,
  type RemoteTask,
  type RemoteUpdate,
  remoteResult,
  reportedUsage,
  usedSince,
} from "../../core/net/a2a.ts";
import { failed, type Outcome, withPartial } from "../../core/outcome/outcome.ts";
import { addCost, addUsage, type Cost, noUsage, type Usage } from "../../core/outcome/usage.ts";
import { createRedactor, type Redactor } from "../../core/secrets/redact.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment, Runner } from "../../core/task/runner.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { createCorrections, reporterOf } from "../../runtime/loop/corrections.ts";
import { type Deadline, deadlineOf } from "../../runtime/async/deadline.ts";
import { asFetch } from "../../runtime/network/guarded-fetch-for-libraries.ts";
import type { GuardedOpen } from "../../runtime/network/guarded-request.ts";
import { webRefusal } from "../../runtime/network/web-target.ts";
import type { Credentials } from "./a2a-auth.ts";
import type { RemoteClients } from "./a2a-clients.ts";
import { isPassing, remoteFailure, remoteFault, shortSaid } from "./a2a-fault.ts";
import { createGate } from "./a2a-gate.ts";
import { carryOf, INPUT, standingOf, textOfAnswer } from "./a2a-past.ts";
import type { RemoteClient } from "./a2a-sdk.ts";
import { verdictOf } from "./a2a-verdict.ts";

export type A2aParts = Readonly<{
  clients: RemoteClients;
  open: GuardedOpen;
  /** Makes the run wait for some work before it ends. */
  linger(work: Promise<unknown>): void;
}>;

/** Timeout for cancelling a task at the remote agent. */
const CANCEL_MS = 5_000;
/** The first and the longest polling interval for a remote task without streaming. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 5_000;
/** Maximum number of failed polls in a row. */
const MOST_MISSES = 5;
/** After this number of polls that return the question that was just answered, it counts as asked again. */
const MOST_REPEATS = 5;
/** Maximum size of a remote agent's answer. */
const MAX_ANSWER_BYTES = 5_000_000;

/** Sends a task to a remote agent over the A2A protocol. A server that the policy does not allow is not contacted. */
export function a2aRunner(parts: A2aParts): Runner {
  return async (assignment, given) => {
    const recorded = await given.past();
    const clock = deadlineOf(assignment.limits, given);
    // Answers of the remote agent may repeat the secrets that were sent to it, also in ids, data and names of files.
    const context: PerformContext = { ...given, emit: (fact) => given.emit(talk.cleanDeep(fact)) };
    const talk = createTalk(assignment, context, { ...parts, recorded, clock });
    try {
      return { ...talk.cleanDeep(await talk.converse()), ...talk.spent() };
    } catch (error) {
      return { ...talk.cleanDeep(talk.ended(error)), ...talk.spent() };
    } finally {
      clock.stop();
    }
  };
}

type Ended = Extract<Outcome, { status: "failed" | "cancelled" }>;

function createTalk(
  assignment: Assignment,
  context: PerformContext,
  parts: A2aParts & Readonly<{ recorded: readonly KeptEvent[]; clock: Deadline }>,
) {
  const { clock } = parts;
  const { agent, limits } = assignment;
  const place = agent.remote ?? {};
  let signing: Credentials | undefined;
  const standing = standingOf(parts.recorded, assignment.call.before);
  const model = `a2a:${agent.name}`;
  let { ids, turns, usage, cost } = standing;
  let answer: RemoteAnswer | undefined;
  let client: RemoteClient | undefined;
  let partial = standing.last?.text ?? "";
  let sent = false;
  /** The last question that was answered: its task may still be sent with it. */
  let answered: string | undefined;
  let counted = standing.ids.taskId === undefined ? undefined : { task: standing.ids.taskId, usage, cost };

  /** Removes the secrets that were sent from all answers of the remote agent. */
  let cleaning = { secrets: 0, redactor: createRedactor([]) };
  const redactor = (): Redactor => {
    const secrets = signing?.secrets.size ?? 0;
    if (secrets !== cleaning.secrets) cleaning = { secrets, redactor: createRedactor([...(signing?.secrets ?? [])]) };
    return cleaning.redactor;
  };
  const clean = (text: string): string => redactor().known(text);
  /**
   * Removes the secrets of this machine from everything that is sent. The approval question shows the text without
   * them, too.
   */
  const outgoing = (text: string): string => clean(assignment.redact?.(text) ?? text);

  const connected = async (): Promise<RemoteClient> => {
    signing = parts.clients.credentials(place);
    const gate = createGate(assignment, context, signing?.label);
    const own = new Set(place.cardUrl === undefined ? [] : [new URL(place.cardUrl).origin]);
    const check = (url: string): void => {
      gate.check(url);
      if (clean(url) !== url && !own.has(new URL(url).origin))
        throw webRefusal("REDIRECT", "the server redirected to another server with a secret in the address");
    };
    const fetch = asFetch(parts.open, { ...gate, check, silenceMs: limits.maxTimeMs, maxBytes: MAX_ANSWER_BYTES });
    const show = (text: string): void => context.emit({ type: "note", text });
    if (place.cardUrl !== undefined) await gate.before(place.cardUrl);
    const there = await parts.clients.open(place, { fetch, signal: clock.signal, ...(context.attended && { show }) });
    own.add(new URL(there.card.url).origin);
    // asks for approval first, so that no command prints a secret that is then not sent
    await gate.before(there.card.url);
    return there;
  };

  /**
   * Handles all updates of a stream until it ends. A stream begins with the task as it was before the message, so a
   * question in that task ends nothing: it may be the one that was just answered.
   */
  const take = async (updates: AsyncIterable<RemoteUpdate>, isOld: (task: RemoteTask) => boolean): Promise<void> => {
    let isFirst = true;
    let old: RemoteTask | undefined;
    try {
      for await (const update of updates) {
        old = isFirst && update.kind === "task" && asks(update) && isOld(update) ? update : undefined;
        isFirst = false;
        fold(update);
        if (!old && isSettled(answer)) return; // a server may keep the stream open after the end
      }
    } finally {
      if (old) answer = unlessAnswered(old);
    }
  };

  /** A task as it is now; with the question that was just answered, its state is unknown. */
  const unlessAnswered = (task: RemoteTask): RemoteTask =>
    asks(task) && questionIn(task) === answered ? { ...task, status: { state: "unknown" } } : task;

  const fold = (update: RemoteUpdate): void => {
    const known = ids;
    answer = foldRemote(answer, update);
    ids = nextIds(ids, answer);
    if (known.taskId !== ids.taskId && ids.taskId !== undefined)
      context.emit({
        type: "remote.joined",
        turn: turns,
        task: ids.taskId,
        ...(ids.contextId && { context: ids.contextId }),
      });
    const text = clean(newText(update));
    if (text !== "") context.live({ type: "text.delta", text });
  };

  /** Waits for a remote task: by streaming if supported, else by polling. */
  const follow = async (there: RemoteClient): Promise<void> => {
    let told = false;
    let misses = 0;
    let repeats = 0;
    for (let ms = FIRST_LOOK_MS; answer?.kind === "task" && !isSettled(answer); ms = Math.min(ms * 2, LAST_LOOK_MS)) {
      if (answer.status.state === "auth-required" && !told) {
        told = true;
        context.emit({
          type: "warning",
          code: "REMOTE_WAITS",
          text: shortSaid(clean(`${agent.name} waits for a sign-in at its own server: ${extractTaskText(answer)}`)),
        });
      }
      const { id } = answer;
      if (there.card.streaming)
        await take(there.listen(id, clock.signal), (task) => questionIn(task) === answered).catch(() => {}); // if streaming fails, the task is polled
      if (isSettled(answer)) return;
      try {
        const task = await there.get(id, clock.signal);
        answer = unlessAnswered(task);
        if (answer !== task) repeats += 1;
        if (repeats >= MOST_REPEATS) answer = task;
        misses = 0;
      } catch (error) {
        misses += 1;
        if (clock.signal.aborted || misses >= MOST_MISSES || !isPassing(error)) throw error;
      }
      if (isSettled(answer)) return;
      if (!(await pause(ms, clock.signal))) throw clock.signal.reason;
    }
  };

  /** Sends one message and reads until the remote agent has answered. */
  const exchange = async (there: RemoteClient, text: string | undefined): Promise<RemoteAnswer> => {
    const held = await context.budget.reserve({ tokens: 0, usd: 0 }, () => {}, clock.signal);
    if ("refused" in held)
      throw remoteFailure(
        "BUDGET",
        `The budget is used up: ${held.refused}.`,
        "Raise the limit with --max-usd or --max-tokens.",
      );
    try {
      if (text === undefined) answer = await there.get(ids.taskId ?? "", clock.signal);
      else await send(there, text);
      await follow(there);
      if (!answer)
        throw remoteFailure(
          "REMOTE_FAILED",
          "the remote agent returned no answer",
          "Report the failure to the operator of the remote agent.",
        );
      sent = false;
      ids = nextIds(ids, answer);
      const said = clean(remoteResult(answer).text);
      const used = usedBy(answer);
      held.settle({ tokens: tokensOf(used.usage), usd: used.cost.usd });
      usage = addUsage(usage, used.usage);
      cost = addCost(cost, used.cost);
      partial = said || partial;
      const state = answer.kind === "task" ? answer.status.state : "completed";
      context.emit({ type: "turn.ended", turn: turns, text: said, calls: [], ...used, carry: carryOf(ids, state) });
      return answer;
    } finally {
      held.release();
    }
  };

  const send = async (there: RemoteClient, text: string): Promise<void> => {
    turns += 1;
    answered = answer && questionIn(answer);
    answer = undefined;
    const why = turns === 1 ? { why: `the agent runs at ${new URL(there.card.url).host}` } : {};
    context.emit({ type: "turn.started", turn: turns, model, ...why });
    // the start of the turn is recorded before the message is sent, because the message may arrive even if this process
    // dies
    await context.durable();
    sent = true;
    const message = { ...ids, messageId: randomUUID(), text: outgoing(text) };
    await take(there.send(message, clock.signal), () => true).catch((error: unknown) => {
      if (clock.signal.aborted || answer?.kind !== "task") throw error;
      // The connection failed, but the remote task continues, so the error is ignored.
    });
  };

  /**
   * The usage of an exchange. A remote task reports its total, part of which was already counted. Without a report the
   * cost is unknown.
   */
  const usedBy = (got: RemoteAnswer): { usage: Usage; cost: Cost } => {
    const sum = reportedUsage(got);
    const task = got.kind === "task" ? got.id : undefined;
    if (!sum || task === undefined) return { usage: { ...noUsage(), turns: 1 }, cost: { usd: 0, unpriced: 1 } };
    const before = counted?.task === task ? counted : undefined;
    counted = { task, ...sum };
    return before ? usedSince(before, sum) : sum;
  };

  const converse = async (): Promise<Outcome> => {
    if (standing.underWay === "sent")
      return failed(
        "REMOTE_LOST",
        `${agent.name} may have received the task before the run was interrupted; the task was not sent again.`,
        {
          hint: "Ask the agent's operator, then retry with --retry-failed.",
        },
      );
    client = await connected();
    const mayCorrect = createCorrections(limits);
    let next: string | undefined = standing.answered ?? promptFor(assignment);
    if (standing.underWay === "joined") next = undefined;
    else if (standing.last?.state === "input-required" && standing.answered === undefined) {
      const reply = await asked(standing.last.text);
      if (typeof reply !== "string") return reply;
      next = reply;
    }
    for (;;) {
      const refusal = turns >= limits.maxTurns && limits.enforce ? `${limits.maxTurns} turns` : undefined;
      if (refusal !== undefined)
        return failed("MAX_TURNS", `The task reached its limit (${refusal}) without a result.`, {
          hint: "Raise the limit with --max-turns.",
        });
      const used = next === undefined ? undefined : await context.budget.count("maxTurns");
      if (used)
        return failed("BUDGET", `The budget is used up: ${used.refused}.`, {
          hint: "Raise the limit with --max-turns.",
        });
      const got = await exchange(client, next);
      const verdict = verdictOf(got, assignment, { clean, report: reporterOf(context) });
      if (verdict.is === "asks") {
        const reply = await asked(verdict.question);
        if (typeof reply !== "string") return reply;
        next = reply;
        continue;
      }
      const mail = await context.mail(); // messages that arrived while the remote task finished are still delivered
      if (mail.length > 0) {
        next = mail.join("\n\n");
        continue;
      }
      if (verdict.is === "over") return verdict.outcome;
      if (!mayCorrect(verdict.finish, verdict.finish.empty)) return withPartial(verdict.outcome, partial);
      next = verdict.remind;
    }
  };

  /** Forwards a question of the remote agent to the person or parent of this task. */
  const asked = async (question: string): Promise<string | Outcome> => {
    const about =
      question.trim() === "" ? "The remote agent needs more information, but does not say which." : question;
    const nobody = failed(
      "NEEDS_ANSWER",
      `${agent.name} asked a question, and nobody is available to answer: ${about}`,
      {
        hint: "Run the task in a terminal or with --bg, and answer there or with `subcrew inbox`.",
      },
    );
    if (!context.attended) {
      giveUp();
      return nobody;
    }
    const said = await context.ask(`${agent.name} asks: ${about}`, {
      call: `${INPUT}${turns}`,
      wants: "words",
      signal: clock.signal,
    });
    if (said?.approve) return textOfAnswer(said);
    if (clock.signal.aborted) throw clock.signal.reason;
    giveUp();
    if (!said) return nobody;
    return failed("REJECTED", `The question of ${agent.name} was not answered${said.text ? `: ${said.text}` : "."}`);
  };

  /**
   * Cancels the remote task. The run waits for the cancellation before it ends; the outcome of the task does not wait
   * for it.
   */
  const giveUp = (): void => {
    if (!client || ids.taskId === undefined || (answer?.kind === "task" && isOver(answer.status.state))) return;
    parts.linger(client.cancel(ids.taskId, AbortSignal.timeout(CANCEL_MS)).catch(() => {}));
  };

  /** The outcome of a task that was ended before it finished by itself. */
  const ended = (error: unknown): Outcome => {
    const stopped = (outcome: Ended): Outcome => withPartial(outcome, partial);
    if (context.signal.aborted || clock.passed()) giveUp();
    if (context.signal.aborted) return stopped({ status: "cancelled", reason: clock.reason() });
    if (clock.passed()) {
      const text = `${formatDuration(limits.maxTimeMs)} of time`;
      context.emit({
        type: "limit.reached",
        limit: "TIMEOUT",
        text: `The limit of ${text} was reached.`,
        enforced: true,
      });
      return stopped(
        failed("TIMEOUT", `The task reached its limit (${text}) without a result.`, {
          hint: "Raise the limit with --max-time.",
          retryable: true,
        }),
      );
    }
    const fault = remoteFault(error, { sent, name: agent.name });
    return stopped({ ...fault, fault: { ...fault.fault, message: clean(fault.fault.message) } });
  };

  const cleanDeep = <T>(value: T): T => redactor().knownDeep(value);
  return { converse, ended, cleanDeep, spent: () => ({ usage, cost, model, tools: {} }) };
}

const tokensOf = ({ input, output, cacheRead, cacheWrite }: Usage): number => input + output + cacheRead + cacheWrite;

/** True when there is nothing to wait for: the remote task is over, or it waits for an answer. */
function isSettled(answer: RemoteAnswer | undefined): boolean {
  return answer === undefined || isFinal(answer) || asks(answer);
}

const asks = (answer: RemoteAnswer): boolean => answer.kind === "task" && answer.status.state === "input-required";

/** Identifies the question that a remote task waits with. */
const questionIn = (answer: RemoteAnswer): string | undefined =>
  answer.kind === "task" && asks(answer) ? extractMessageText(answer.status.message) : undefined;

function newText(update: RemoteUpdate): string {
  switch (update.kind) {
    case "message":
      return extractMessageText(update);
    case "task":
      return "";
    case "status-update":
      // each status message ends with a newline
      return extractMessageText(update.status.message).replace(/(?<=[^\n])$/, "\n");
    case "artifact-update":
      return extractMessageText(update.artifact);
  }
}

function promptFor({ prompt, schema }: Assignment): string {
  if (!schema) return prompt;
  return `${prompt}\n\n${fill(prompts.remoteSchema, new Map([["schema", JSON.stringify(schema)]]))}`;
}
