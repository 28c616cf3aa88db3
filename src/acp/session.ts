import { explain } from "../core/outcome/outcome.ts";
import type { Answer } from "../core/plan/gate.ts";
import type { PolicyMode } from "../core/policy/policy.ts";
import type { Event } from "../core/run/event.ts";
import { offlineNote } from "../core/view/offline-note.ts";
import type { ChatConversation } from "../crew/conversation.ts";
import { type Deferred, deferred } from "../runtime/async/deferred.ts";
import type { Run } from "../runtime/run/run.ts";
import type { EditorClient, SessionUpdate, StopReason } from "./sdk.ts";
import { callIdOf, createUpdateWriter, kindOf, type UpdateWriter } from "./updates.ts";

/** A conversation of a person with an agent in an editor. */
export type EditorSession = Readonly<{
  /** Sends a message to the agent, and waits until it is done, asks something or is cancelled. */
  prompt(text: string): Promise<StopReason>;
  cancel(): void;
  mode(): PolicyMode;
  /** Sets the mode, from the next message on. */
  setMode(mode: PolicyMode): void;
  /** Stops running work; it is kept and can be resumed. */
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
type OpenQuestion = Readonly<{ path: string; call: string }>;
type Opened = Extract<Event, { type: "gate.opened" }>;

export function createEditorSession({ id, editor, mode: first, talk, onError }: EditorSessionOptions): EditorSession {
  let mode = first;
  let turn: Turn | undefined;
  const tell = async (update: SessionUpdate): Promise<void> =>
    editor.notify("session/update", { sessionId: id, update });
  const say = (text: string): Promise<void> =>
    tell({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

  /** Asks the person in the editor for a permission or an approval. */
  const permission = async (now: Turn, { path, question, call }: Opened, writer: UpdateWriter): Promise<void> => {
    const known = call === undefined ? undefined : writer.callOf(path, call);
    const { outcome } = await editor
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
      .catch(() => ({ outcome: { outcome: "cancelled" as const } }));
    const chosen = outcome.outcome === "selected" ? outcome.optionId : "no";
    const answer: Answer = {
      approve: chosen !== "no",
      by: "the person in the editor",
      ...(chosen === "always" && { always: true }),
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
      if (waiting) throw new Error("A message is being worked on; cancel it, or wait for its end.");
      const conversation = await talk(mode);
      const { run } = await conversation.say(text);
      const now: Turn = { run, stop: deferred<StopReason>(), cancelled: false };
      turn = now;
      follow(now, conversation).catch(onError);
      return now.stop.promise;
    },
    cancel: () => {
      if (!turn) return;
      turn.cancelled = true;
      turn.run.cancel("cancelled in the editor");
      if (turn.ask) turn.stop.resolve("cancelled");
    },
    close: async (reason) => {
      const left = turn?.run;
      left?.pause(reason);
      await left?.then(
        () => {},
        () => {},
      );
    },
  };
}
