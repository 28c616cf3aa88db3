import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Answer } from "../../../core/plan/gate.ts";
import { defined } from "../../../core/text/defined.ts";
import type { Asked, CallDetails } from "../wire.ts";
import { DiffView } from "./diff.tsx";
import { useLoaded } from "./load.tsx";
import { Markdown } from "./markdown.tsx";
import { sendChange } from "./session.ts";

type Props = Readonly<{ run: string; path: string; question: string; call: string | undefined; asked: Asked }>;

const hints: Readonly<Record<Asked["kind"], string>> = {
  words: "Your answer",
  approval: "What to change, if anything",
  permission: "What to do instead (with Deny)",
};

/**
 * Shows a question of a run with its subject, and an answer field. The first answer counts, whether it is given on the
 * page or in a terminal.
 */
export function AnswerBox({ run, path, question, call, asked: { kind, network } }: Props): JSX.Element {
  const words = useSignal("");
  const busy = useSignal(false);
  const say = async (approve: boolean, more: Readonly<Partial<Answer>> = {}): Promise<void> => {
    busy.value = true;
    const text = words.value.trim();
    const answer = { approve, ...(text !== "" && { text }), ...more };
    const done = await sendChange("tell", {
      run,
      command: { do: "answer", path, question, answer, ...defined({ call }) },
    });
    if (done?.done) words.value = "";
    busy.value = false;
  };
  const permission = kind === "permission";
  const empty = words.value.trim() === "";
  return (
    <div class="answer">
      <div class="asked">
        {permission && call !== undefined ? (
          <CallInQuestion run={run} call={call} question={question} />
        ) : (
          <Markdown text={question} />
        )}
      </div>
      <textarea
        rows={2}
        aria-label="Your words, if any"
        placeholder={hints[kind]}
        value={words.value}
        onInput={(event) => (words.value = event.currentTarget.value)}
      />
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={busy.value || (kind === "words" && empty) || (permission && !empty)}
          onClick={() => void say(true)}
        >
          {kind === "words" ? "Answer" : kind === "approval" ? "Approve" : "Allow"}
        </button>
        {permission && network ? (
          <button type="button" disabled={busy.value || !empty} onClick={() => void say(true, { network: true })}>
            Allow with network
          </button>
        ) : null}
        {permission ? (
          <button
            type="button"
            disabled={busy.value || !empty}
            onClick={() => void say(true, { always: true, scope: "run" })}
            title="Allow the same call without a question for the rest of this run"
          >
            Always in this run
          </button>
        ) : null}
        <button type="button" class="danger" disabled={busy.value} onClick={() => void say(false)}>
          {kind === "words" ? "Decline" : "Deny"}
        </button>
      </div>
    </div>
  );
}

/** Shows a tool call that needs permission: a change as a diff, and the full question with nothing hidden. */
function CallInQuestion({
  run,
  call,
  question,
}: Readonly<{ run: string; call: string; question: string }>): JSX.Element {
  const details = useLoaded<CallDetails | null>("call", { run, call });
  const diff = details.value.value?.diff;
  // In the question, arguments are indented. The other lines name the agent, the reason and the sandbox.
  const lines = question.split("\n").filter((line) => !line.startsWith("  "));
  if (diff === undefined) return <pre tabIndex={0}>{question}</pre>;
  return (
    <>
      <p class="question-text">{lines.join("\n").replace(/:$/m, "")}</p>
      <DiffView text={diff} />
      <details>
        <summary>The whole call</summary>
        <pre tabIndex={0}>{question}</pre>
      </details>
    </>
  );
}
