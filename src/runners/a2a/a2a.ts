import { randomUUID } from "node:crypto";
import { type RemoteAnswer, remoteResult, reportedUsage, usedSince } from "../../core/net/a2a.ts";
import { failed, type Outcome, withPartial } from "../../core/outcome/outcome.ts";
import { addCost, addUsage, type Cost, noUsage, type Usage } from "../../core/outcome/usage.ts";
import { type ReviewAnswer, statedVerdict, withVerdict } from "../../core/plan/review.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import { taskContext } from "../../core/task/task-context.ts";
import type { Assignment, Runner } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { fill } from "../../core/text/template.ts";
import { prompts } from "../../embedded.ts";
import { type Deadline, deadlineOf } from "../../runtime/async/deadline.ts";
import { createCorrections, reporterOf } from "../../runtime/loop/corrections.ts";
import { SentSecrets } from "./a2a-clean.ts";
import { type ConnectParts, connectRemote } from "./a2a-connect.ts";
import { remoteFailure, remoteFault, shortSaid } from "./a2a-fault.ts";
import { carryOf, INPUT, type RemoteProgress, standingOf, textOfAnswer } from "./a2a-past.ts";
import { verdictOf } from "./a2a-verdict.ts";
import { RemoteWork } from "./a2a-work.ts";

export type A2aParts = ConnectParts &
  Readonly<{
    /** Makes the run wait for some work before it ends. */
    linger(work: Promise<unknown>): void;
  }>;

/** Sends a task to a remote agent over the A2A protocol. A server that the policy does not allow is not contacted. */
export function a2aRunner(parts: A2aParts): Runner {
  return async (assignment, given) => {
    const standing = standingOf(await given.past(), assignment.call.before);
    const clock = deadlineOf(assignment.limits, given);
    const secrets = new SentSecrets();
    // Answers of the remote agent may repeat the secrets that were sent to it, also in ids, data and names of files.
    const context = taskContext(given, { clean: (fact) => secrets.cleanDeep(fact) });
    const talk = new RemoteTalk(assignment, context, { ...parts, standing, clock, secrets });
    try {
      return { ...secrets.cleanDeep(await talk.converse()), ...talk.spent() };
    } catch (error) {
      return { ...secrets.cleanDeep(talk.ended(error)), ...talk.spent() };
    } finally {
      clock.stop();
    }
  };
}

type TalkParts = A2aParts & Readonly<{ standing: RemoteProgress; clock: Deadline; secrets: SentSecrets }>;
type Ended = Extract<Outcome, { status: "failed" | "cancelled" }>;

/** A conversation with a remote agent about one task. */
class RemoteTalk {
  readonly #assignment: Assignment;
  readonly #context: PerformContext;
  readonly #parts: TalkParts;
  readonly #name: string;
  #work: RemoteWork | undefined;
  #turns: number;
  #usage: Usage;
  #cost: Cost;
  /** The usage that a remote task has reported so far. */
  #counted: Readonly<{ task: string; usage: Usage; cost: Cost }> | undefined;
  /** The last text of the remote agent. */
  #partial: string;
  /** True while a message is under way that the remote agent may have received. */
  #isSent = false;

  constructor(assignment: Assignment, context: PerformContext, parts: TalkParts) {
    const { ids, turns, usage, cost, last } = parts.standing;
    this.#assignment = assignment;
    this.#context = context;
    this.#parts = parts;
    this.#name = assignment.agent.name;
    this.#turns = turns;
    this.#usage = usage;
    this.#cost = cost;
    this.#counted = ids.taskId === undefined ? undefined : { task: ids.taskId, usage, cost };
    this.#partial = last?.text ?? "";
  }

  spent(): Pick<Outcome, "usage" | "cost" | "model" | "tools"> {
    return { usage: this.#usage, cost: this.#cost, model: this.#model, tools: {} };
  }

  async converse(): Promise<Outcome> {
    const { limits } = this.#assignment;
    const { standing, secrets } = this.#parts;
    if (standing.underWay === "sent")
      return failed(
        "REMOTE_LOST",
        `${this.#name} may have received the task before the run was interrupted; the task was not sent again.`,
        {
          hint: "Ask the agent's operator, then retry with --retry-failed.",
        },
      );
    const work = await this.#connected();
    const mayCorrect = createCorrections(limits);
    let next = await this.#firstMessage();
    let review: Extract<Outcome, { status: "ok" }> | undefined; // it had no verdict
    for (;;) {
      if (typeof next === "object") return next;
      const refused = await this.#refusedTurn(next);
      if (refused) return review ?? refused;
      const got = await this.#exchange(work, next);
      const report = reporterOf(this.#context);
      const verdict = verdictOf(got, this.#assignment, { clean: (text) => secrets.clean(text), report });
      if (verdict.is === "asks") {
        next = await this.#asked(verdict.question);
        continue;
      }
      const mail = await this.#context.mail(); // messages that arrived while the remote task finished are still delivered
      if (mail.length > 0) {
        next = mail.join("\n\n");
        continue;
      }
      if (verdict.is === "over") {
        const { outcome } = verdict;
        if (outcome.status !== "ok") return review ?? outcome;
        if (review || !this.#lacksVerdict(outcome)) return withVerdict(review, outcome);
        review = outcome;
        next = prompts.remindVerdict;
        continue;
      }
      if (!mayCorrect(verdict.finish, verdict.finish.empty)) return withPartial(verdict.outcome, this.#partial);
      next = verdict.remind;
    }
  }

  #lacksVerdict({ output, data }: ReviewAnswer): boolean {
    const { call, limits } = this.#assignment;
    return call.review === true && limits.reminders > 0 && statedVerdict(output, data) === undefined;
  }

  /** The outcome of a task that was ended before it finished by itself. */
  ended(error: unknown): Outcome {
    const { clock, secrets } = this.#parts;
    const stopped = (outcome: Ended): Outcome => withPartial(outcome, this.#partial);
    const isCancelled = this.#context.signal.aborted;
    if (isCancelled || clock.passed()) this.#giveUp();
    if (isCancelled) return stopped({ status: "cancelled", reason: clock.reason() });
    if (clock.passed()) {
      const text = `${formatDuration(this.#assignment.limits.maxTimeMs)} of time`;
      this.#context.emit({
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
    const fault = remoteFault(error, { sent: this.#isSent, name: this.#name });
    return stopped({ ...fault, fault: { ...fault.fault, message: secrets.clean(fault.fault.message) } });
  }

  get #model(): string {
    return `a2a:${this.#name}`;
  }

  async #connected(): Promise<RemoteWork> {
    const { standing, clock, secrets } = this.#parts;
    const { signal } = clock;
    const client = await connectRemote(this.#assignment, this.#context, { ...this.#parts, signal });
    return (this.#work = new RemoteWork(client, standing.ids, {
      signal,
      joined: ({ taskId, contextId }) =>
        this.#context.emit({
          type: "remote.joined",
          turn: this.#turns,
          ...defined({ task: taskId }),
          ...(contextId && { context: contextId }),
        }),
      text: (said) => {
        const text = secrets.clean(said);
        if (text !== "") this.#context.live({ type: "text.delta", text });
      },
      waits: (said) => {
        const text = shortSaid(secrets.clean(`${this.#name} waits for a sign-in at its own server: ${said}`));
        this.#context.emit({ type: "warning", code: "REMOTE_WAITS", text });
      },
    }));
  }

  /** The first message; `undefined` when an earlier process sent it, and an outcome when there is nothing to send. */
  async #firstMessage(): Promise<string | Outcome | undefined> {
    const { underWay, answered, last } = this.#parts.standing;
    if (underWay === "joined") return undefined;
    if (answered !== undefined) return answered;
    return last?.state === "input-required" ? this.#asked(last.text) : promptFor(this.#assignment);
  }

  /** The outcome when the limits allow no further turn. */
  async #refusedTurn(next: string | undefined): Promise<Outcome | undefined> {
    const { maxTurns, enforce } = this.#assignment.limits;
    if (this.#turns >= maxTurns && enforce)
      return failed("MAX_TURNS", `The task reached its limit (${maxTurns} turns) without a result.`, {
        hint: "Raise the limit with --max-turns.",
      });
    const used = next === undefined ? undefined : await this.#context.budget.count("maxTurns");
    return (
      used && failed("BUDGET", `The budget is used up: ${used.refused}.`, { hint: "Raise the limit with --max-turns." })
    );
  }

  /** Sends one message and reads until the remote agent has answered. */
  async #exchange(work: RemoteWork, text: string | undefined): Promise<RemoteAnswer> {
    const { clock, secrets } = this.#parts;
    const held = await this.#context.budget.reserve({ tokens: 0, usd: 0 }, () => {}, clock.signal);
    if ("refused" in held)
      throw remoteFailure(
        "BUDGET",
        `The budget is used up: ${held.refused}.`,
        "Raise the limit with --max-usd or --max-tokens.",
      );
    try {
      if (text === undefined) await work.read();
      else await this.#send(work, text);
      const answer = await work.settled();
      this.#isSent = false;
      const said = secrets.clean(remoteResult(answer).text);
      const used = this.#usedBy(answer);
      held.settle({ tokens: tokensOf(used.usage), usd: used.cost.usd });
      this.#usage = addUsage(this.#usage, used.usage);
      this.#cost = addCost(this.#cost, used.cost);
      this.#partial = said || this.#partial;
      const carry = carryOf(work.ids, answer.kind === "task" ? answer.status.state : "completed");
      this.#context.emit({ type: "turn.ended", turn: this.#turns, text: said, calls: [], ...used, carry });
      return answer;
    } finally {
      held.release();
    }
  }

  async #send(work: RemoteWork, text: string): Promise<void> {
    this.#turns += 1;
    const why = this.#turns === 1 ? { why: `the agent runs at ${work.host}` } : {};
    this.#context.emit({ type: "turn.started", turn: this.#turns, model: this.#model, ...why });
    // the start of the turn is recorded before the message is sent, because the message may arrive even if this process
    // dies
    await this.#context.durable();
    this.#isSent = true;
    // Removes the secrets of this machine from everything that is sent. The approval question shows the text without
    // them, too.
    const outgoing = this.#parts.secrets.clean(this.#assignment.redact?.(text) ?? text);
    await work.send({ messageId: randomUUID(), text: outgoing });
  }

  /**
   * The usage of an exchange. A remote task reports its total, part of which was already counted. Without a report the
   * cost is unknown.
   */
  #usedBy(got: RemoteAnswer): { usage: Usage; cost: Cost } {
    const sum = reportedUsage(got);
    const task = got.kind === "task" ? got.id : undefined;
    if (!sum || task === undefined) return { usage: { ...noUsage(), turns: 1 }, cost: { usd: 0, unpriced: 1 } };
    const before = this.#counted?.task === task ? this.#counted : undefined;
    this.#counted = { task, ...sum };
    return before ? usedSince(before, sum) : sum;
  }

  /** Forwards a question of the remote agent to the person or parent of this task. */
  async #asked(question: string): Promise<string | Outcome> {
    const { signal } = this.#parts.clock;
    const about =
      question.trim() === "" ? "The remote agent needs more information, but does not say which." : question;
    const nobody = failed(
      "NEEDS_ANSWER",
      `${this.#name} asked a question, and nobody is available to answer: ${about}`,
      {
        hint: "Run the task in a terminal or with --bg, and answer there or with `subcrew inbox`.",
      },
    );
    if (!this.#context.attended) {
      this.#giveUp();
      return nobody;
    }
    const call = `${INPUT}${this.#turns}`;
    const said = await this.#context.ask(`${this.#name} asks: ${about}`, { call, wants: "words", signal });
    if (said?.approve) return textOfAnswer(said);
    if (signal.aborted) throw signal.reason;
    this.#giveUp();
    if (!said) return nobody;
    return failed("REJECTED", `The question of ${this.#name} was not answered${said.text ? `: ${said.text}` : "."}`);
  }

  /**
   * Cancels the remote task. The run waits for the cancellation before it ends; the outcome of the task does not wait
   * for it.
   */
  #giveUp(): void {
    const cancelling = this.#work?.cancel();
    if (cancelling) this.#parts.linger(cancelling);
  }
}

const tokensOf = ({ input, output, cacheRead, cacheWrite }: Usage): number => input + output + cacheRead + cacheWrite;

function promptFor({ prompt, schema }: Assignment): string {
  if (!schema) return prompt;
  return `${prompt}\n\n${fill(prompts.remoteSchema, new Map([["schema", JSON.stringify(schema)]]))}`;
}
