import { explain } from "../core/outcome/outcome.ts";
import type { Answer } from "../core/plan/gate.ts";
import type { PolicyMode } from "../core/policy/policy.ts";
import type { Event } from "../core/run/event.ts";
import { CrewError } from "../core/schema/error.ts";
import { isRecord } from "../core/text/json.ts";
import { offlineNote } from "../core/view/offline-note.ts";
import type { ChatConversation } from "../crew/conversation.ts";
import { type Deferred, deferred } from "../runtime/async/deferred.ts";
import type { Run } from "../runtime/run/run.ts";
import type { EditorClient, SessionUpdate, StopReason } from "./sdk.ts";
import { callIdOf, createUpdateWriter, kindOf, type UpdateWriter } from "./updates.ts";

export type EditorSessionOptions = Readonly<{
  id: string;
  editor: EditorClient;
  mode: PolicyMode;
  /** The conversation with the permissions of a mode. All modes continue the same runs. */
  talk(mode: PolicyMode): Promise<ChatConversation>;
  onError(error: unknown): void;
}>;

type Turn = { run: Run; stop: Deferred<StopReason>; ask?: OpenQuestion | undefined; cancelled: boolean };
const CANCELLED = "cancelled in the editor";
type OpenQuestion = Readonly<{ path: string; call: string }>;
type Opened = Extract<Event, { type: "gate.opened" }>;

/** A conversation of a person with an agent in an editor. */
export class EditorSession {
  readonly #options: EditorSessionOptions;
  #mode: PolicyMode;
  #turn: Turn | undefined;
  /** Set from the arrival of a message until its run has ended, so that two messages never start two runs. */
  #starting: { cancelled: boolean; begun: Deferred<void> } | undefined;
  #isClosed = false;

  constructor(options: EditorSessionOptions) {
    this.#options = options;
    this.#mode = options.mode;
  }

  mode(): PolicyMode {
    return this.#mode;
  }

  /** Sets the permission mode of the session, from the next message on. */
  setMode(mode: PolicyMode): void {
    this.#mode = mode;
  }

  /** Sends a message to the agent, and waits until the agent is done, asks something or is cancelled. */
  async prompt(text: string): Promise<StopReason> {
    const turn = this.#turn;
    if (turn?.ask) return this.#answer(turn, turn.ask, text);
    if (turn || this.#starting)
      throw new CrewError(
        "BAD_INPUT",
        "The previous message of this session has not been answered yet.",
        "Wait for the answer, or cancel the previous message.",
      );
    const starting = { cancelled: false, begun: deferred<void>() };
    this.#starting = starting;
    try {
      const conversation = await this.#options.talk(this.#mode);
      if (starting.cancelled || this.#isClosed) return "cancelled";
      const { run } = await conversation.say(text);
      const now: Turn = { run, stop: deferred<StopReason>(), cancelled: starting.cancelled };
      this.#turn = now;
      if (now.cancelled) run.cancel(CANCELLED);
      this.#follow(now, conversation).catch(this.#options.onError);
      starting.begun.resolve();
      return await now.stop.promise;
    } finally {
      starting.begun.resolve();
      this.#starting = undefined;
    }
  }

  cancel(): void {
    if (this.#starting) this.#starting.cancelled = true;
    const turn = this.#turn;
    if (!turn) return;
    turn.cancelled = true;
    turn.run.cancel(CANCELLED);
    if (turn.ask) turn.stop.resolve("cancelled");
  }

  /** Stops the running prompt; its run is kept and can be resumed. */
  async close(reason: string): Promise<void> {
    this.#isClosed = true;
    await this.#starting?.begun.promise;
    const left = this.#turn?.run;
    left?.pause(reason);
    await left?.then(
      () => {},
      () => {},
    );
  }

  /** Answers the question of the agent in words. */
  async #answer(turn: Turn, { path, call }: OpenQuestion, text: string): Promise<StopReason> {
    turn.ask = undefined;
    turn.stop = deferred<StopReason>();
    await turn.run.answer(path, { approve: true, text, by: "the person in the editor" }, call);
    return turn.stop.promise;
  }

  async #tell(update: SessionUpdate): Promise<void> {
    const { editor, id } = this.#options;
    await editor.notify("session/update", { sessionId: id, update });
  }

  #say(text: string): Promise<void> {
    return this.#tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }

  async #follow(turn: Turn, conversation: ChatConversation): Promise<void> {
    const writer = createUpdateWriter();
    try {
      for await (const event of turn.run) {
        for (const update of writer.of(event)) await this.#tell(update);
        if (event.type === "gate.opened") this.#ask(turn, event, writer).catch(this.#options.onError);
      }
      const { status, output } = await turn.run;
      const { outcome, offline } = turn.run.state;
      if (status === "ok" && output !== "" && output.trim() !== writer.said().trim()) await this.#say(output);
      if (status !== "ok" && !turn.cancelled && outcome) await this.#say(`\n${explain(outcome)}\n`);
      if (offline) await this.#say(`\n\n[${offlineNote}]`);
      turn.stop.resolve(
        turn.cancelled ? "cancelled" : (outcome?.limit?.kind ?? "") === "turns" ? "max_turn_requests" : "end_turn",
      );
    } catch (error) {
      turn.stop.reject(error);
    } finally {
      conversation.ended(turn.run);
      if (this.#turn === turn) this.#turn = undefined;
    }
  }

  async #ask(turn: Turn, event: Opened, writer: UpdateWriter): Promise<void> {
    if (event.call === undefined || event.wants !== "words") return this.#askPermission(turn, event, writer);
    // A question for text is sent as a message; the next message of the person is the answer.
    turn.ask = { path: event.path, call: event.call };
    await this.#say(`\n${event.question}\n`);
    turn.stop.resolve("end_turn");
  }

  /** Asks the person in the editor for a permission or an approval. */
  async #askPermission(turn: Turn, { path, question, call }: Opened, writer: UpdateWriter): Promise<void> {
    const { editor, id } = this.#options;
    const known = call === undefined ? undefined : writer.callOf(path, call);
    const reply = await editor
      .request("session/request_permission", {
        sessionId: id,
        toolCall: {
          toolCallId: callIdOf(path, call ?? "gate"),
          title: question,
          kind: known ? kindOf(known.tool) : "other",
          status: "pending",
          ...(known && { rawInput: known.input }),
        },
        options: [
          { optionId: "once", name: call === undefined ? "Approve" : "Allow once", kind: "allow_once" },
          ...(call === undefined
            ? []
            : [{ optionId: "always", name: "Always allow this call in this run", kind: "allow_always" as const }]),
          { optionId: "no", name: "Reject", kind: "reject_once" },
        ],
      })
      .catch(() => undefined);
    const chosen = chosenIn(reply);
    const answer: Answer = {
      approve: chosen === "once" || (chosen === "always" && call !== undefined),
      by: "the person in the editor",
      ...(chosen === "always" && call !== undefined && { always: true }),
    };
    if (!turn.cancelled) await turn.run.answer(path, answer, call);
  }
}

/** The option that an editor chose. The library does not check replies, so an unknown option is a refusal. */
function chosenIn(reply: unknown): unknown {
  const outcome = isRecord(reply) ? reply["outcome"] : undefined;
  return isRecord(outcome) && outcome["outcome"] === "selected" ? outcome["optionId"] : undefined;
}
