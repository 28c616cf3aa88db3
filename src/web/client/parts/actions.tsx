import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { RowAction } from "../../../core/view/row-actions.ts";
import type { RowDetails, TaskRow } from "../wire.ts";
import { AnswerBox } from "./answer.tsx";
import { useLoaded } from "./load.tsx";
import { go, runLink } from "./router.ts";
import { sendChange, mayChange } from "./session.ts";
import { CopyCommand } from "./words.tsx";

type Props = Readonly<{ run: string; path: string; row: TaskRow | undefined; ended: boolean; state: string }>;

/** The actions that are shown as buttons. */
const buttons: readonly RowAction["does"][] = ["pause", "resume", "retry", "cancel"];

/** Shows the actions for the selected task or the run: answer, message, pause, resume, retry, cancel, continue. */
export function ActionBar({ run, path, row, ended, state }: Props): JSX.Element {
  const details = useLoaded<RowDetails>("actions", { run, path }, state);
  const writing = useSignal<"" | "message" | "continue">("");
  const text = useSignal("");
  const asking = useSignal<RowAction | undefined>(undefined);
  const { actions = [], command = "" } = details.value.value ?? {};
  const act = async (action: RowAction): Promise<void> => {
    asking.value = undefined;
    await sendChange("act", { run, path, does: action.does });
  };
  const send = async (): Promise<void> => {
    const words = text.value.trim();
    if (words === "") return;
    const done =
      writing.value === "message"
        ? await sendChange("tell", { run, command: { do: "send", path, text: words, from: "the user", how: "steer" } })
        : await sendChange("continue", { run, path, message: words });
    if (!done) return;
    text.value = "";
    writing.value = "";
    if (done.run !== undefined && done.run !== run) go(runLink(done.run));
  };
  const may = mayChange();
  const canContinue = ended && (row === undefined || (row.kind === "task" && row.status !== "planned"));
  return (
    <div class="actions">
      {row?.question !== undefined && row.asked && may ? (
        <AnswerBox run={run} path={path} question={row.question} call={row.call} asked={row.asked} />
      ) : null}
      <div class="buttons">
        {may
          ? actions
              .filter(({ does }) => buttons.includes(does))
              .map((action) => (
                <button
                  type="button"
                  key={action.does}
                  class={action.does === "cancel" ? "danger" : ""}
                  onClick={() => (action.warns === undefined ? void act(action) : (asking.value = action))}
                >
                  {action.word}
                </button>
              ))
          : null}
        {may && actions.some(({ does }) => does === "message") ? (
          <button
            type="button"
            aria-expanded={writing.value === "message"}
            onClick={() => (writing.value = writing.value === "message" ? "" : "message")}
          >
            message
          </button>
        ) : null}
        {may && canContinue ? (
          <button
            type="button"
            aria-expanded={writing.value === "continue"}
            onClick={() => (writing.value = writing.value === "continue" ? "" : "continue")}
          >
            continue
          </button>
        ) : null}
        {command === "" ? null : <CopyCommand command={command} />}
      </div>
      {asking.value === undefined ? null : (
        <div class="confirm" role="alertdialog" aria-label="Confirm">
          <p>{asking.value.warns}</p>
          <button type="button" class="danger" onClick={() => void act(asking.value!)}>
            Yes, {asking.value.word}
          </button>
          <button type="button" onClick={() => (asking.value = undefined)}>
            No
          </button>
        </div>
      )}
      {writing.value === "" ? null : (
        <form
          class="say"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <textarea
            aria-label={writing.value === "message" ? "Message to the task" : "What the task should do next"}
            placeholder={
              writing.value === "message"
                ? "The task reads the message before its next turn"
                : "Continues this conversation in a new run"
            }
            rows={3}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
            }}
          />
          <button type="submit" class="primary" disabled={text.value.trim() === ""}>
            {writing.value === "message" ? "Send" : "Continue"}
          </button>
        </form>
      )}
    </div>
  );
}
