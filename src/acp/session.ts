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

/** A conversation of a person with an agent in an editor. */
export type EditorSession = Readonly<{
  /** Sends a message to the agent, and waits until the agent is done, asks something or is cancelled. */
  prompt(text: string): Promise<StopReason>;
  cancel(): void;
  mode(): PolicyMode;
  /** Sets the permission mode of the session, from the next message on. */
  setMode(mode: PolicyMode): void;
  /** Stops the running prompt; its run is kept and can be resumed. */
  close(reason: string): Promise<void>;
}>;

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

export function createEditorSession({ id, editor, mode: first, talk, onError }: EditorSessionOptions): EditorSession {
  let mode = first;
  let turn: Turn | undefined;
  /** Set from the arrival of a message until its run has ended, so that two messages never start two runs. */
  let starting: { cancelled: boolean; begun: Deferred<void> } | undefined;
  let isClosed = false;
  const tell = async (update: SessionUpdate): Promise<void> =>
    editor.notify("session/update", { sessionId: id, update });
  const say = (text: string): Promise<void> =>
    tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

  /** Asks the person in the editor for a permission or an approval. */
  const permission = async (now: Turn, { path, question, call }: Opened, writer: UpdateWriter): Promise<void> => {
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
    if (!now.cancelled) await now.run.answer(path, answer, call);
  };

  const opened = async (now: Turn, event: Opened, writer: UpdateWriter): Promise<void> => {
    if (event.call === undefined || event.wants !== "words") return permission(now, event, writer);
    // A question for text is sent as a message; the next message of the person is the answer.
    now.ask = { path: event.path, call: event.call };
    await say(`\n${event.question}\n`);
    now.stop.resolve("end_turn");
  };

  const follow = async (now: Turn, conversation: ChatConversation): Promise<void> => {
    const writer = createUpdateWriter();
    try {
      for await (const event of now.run) {
        for (const update of writer.of(event)) await tell(update);
        if (event.type === "gate.opened") opened(now, event, writer).catch(onError);
      }
      const { status, output } = await now.run;
      const { outcome, offline } = now.run.state;
      if (status === "ok" && output !== "" && output.trim() !== writer.said().trim()) await say(output);
      if (status !== "ok" && !now.cancelled && outcome) await say(`\n${explain(outcome)}\n`);
      if (offline) await say(`\n\n[${offlineNote}]`);
      now.stop.resolve(
        now.cancelled ? "cancelled" : (outcome?.limit?.kind ?? "") === "turns" ? "max_turn_requests" : "end_turn",
      );
    } catch (error) {
      now.stop.reject(error);
    } finally {
      conversation.ended(now.run);
      if (turn === now) turn = undefined;
    }
  };

  return {
    mode: () => mode,
    setMode: (wanted) => {
      mode = wanted;
    },
    prompt: async (text) => {
      const waiting = turn;
      if (waiting?.ask) {
        const { path, call } = waiting.ask;
        waiting.ask = undefined;
        waiting.stop = deferred<StopReason>();
        await waiting.run.answer(path, { approve: true, text, by: "the person in the editor" }, call);
        return waiting.stop.promise;
      }
      if (waiting || starting)
        throw new CrewError(
          "BAD_INPUT",
          "The previous message of this session has not been answered yet.",
          "Wait for the answer, or cancel the previous message.",
        );
      starting = { cancelled: false, begun: deferred<void>() };
      try {
        const conversation = await talk(mode);
        if (starting.cancelled || isClosed) return "cancelled";
        const { run } = await conversation.say(text);
        const now: Turn = { run, stop: deferred<StopReason>(), cancelled: starting.cancelled };
        turn = now;
        if (now.cancelled) run.cancel(CANCELLED);
        follow(now, conversation).catch(onError);
        starting.begun.resolve();
        return await now.stop.promise;
      } finally {
        starting.begun.resolve();
        starting = undefined;
      }
    },
    cancel: () => {
      if (starting) starting.cancelled = true;
      if (!turn) return;
      turn.cancelled = true;
      turn.run.cancel(CANCELLED);
      if (turn.ask) turn.stop.resolve("cancelled");
    },
    close: async (reason) => {
      isClosed = true;
      await starting?.begun.promise;
      const left = turn?.run;
      left?.pause(reason);
      await left?.then(
        () => {},
        () => {},
      );
    },
  };
}

/** The option that an editor chose. The library does not check replies, so an unknown option is a refusal. */
function chosenIn(reply: unknown): unknown {
  const outcome = isRecord(reply) ? reply["outcome"] : undefined;
  return isRecord(outcome) && outcome["outcome"] === "selected" ? outcome["optionId"] : undefined;
}
