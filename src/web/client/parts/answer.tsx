import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { defined } from "../../../core/text/defined.ts";
import type { CallDetails } from "../wire.ts";
import { DiffView } from "./diff.tsx";
import { useLoaded } from "./load.tsx";
import { Markdown } from "./markdown.tsx";
import { sendChange } from "./session.ts";

type Props = Readonly<{ run: string; path: string; question: string; call: string | undefined }>;

/** A question of a run with what it is about, answered in place. The first answer counts, wherever it is given. */
export function AnswerBox({ run, path, question, call }: Props): JSX.Element {
  const words = useSignal("");
  const busy = useSignal(false);
  const say = async (approve: boolean, always = false): Promise<void> => {
    busy.value = true;
    const text = words.value.trim();
    const answer = { approve, ...(text !== "" && { text }), ...(always && { always: true, scope: "run" }) };
    await sendChange("tell", { run, command: { do: "answer", path, question, answer, ...defined({ call }) } });
    busy.value = false;
  };
  return (
    <div class="answer">
      <div class="asked">
        <Markdown text={question} />
        {call === undefined ? null : <CallInQuestion run={run} call={call} />}
      </div>
      <textarea
        rows={2}
        aria-label="Your words, if any"
        placeholder={call === undefined ? "Your answer, or what to change" : "What to do instead (with Deny)"}
        value={words.value}
        onInput={(event) => (words.value = event.currentTarget.value)}
      />
      <div class="buttons">
        <button type="button" class="primary" disabled={busy.value} onClick={() => void say(true)}>
          {call === undefined && words.value.trim() !== "" ? "Answer" : "Allow"}
        </button>
        {call === undefined ? null : (
          <button
            type="button"
            disabled={busy.value}
            onClick={() => void say(true, true)}
            title="The same call needs no answer for the rest of this run"
          >
            Always in this run
          </button>
        )}
        <button type="button" class="danger" disabled={busy.value} onClick={() => void say(false)}>
          Deny
        </button>
      </div>
    </div>
  );
}

function CallInQuestion({ run, call }: Readonly<{ run: string; call: string }>): JSX.Element | null {
  const details = useLoaded<CallDetails | null>("call", { run, call });
  const found = details.value.value;
  if (!found) return null;
  return found.diff === undefined ? (
    <details>
      <summary>All arguments of {found.tool}</summary>
      <pre tabIndex={0}>{found.input}</pre>
    </details>
  ) : (
    <DiffView text={found.diff} />
  );
}
