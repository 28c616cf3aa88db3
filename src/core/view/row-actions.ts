import { answerKind } from "../plan/answer-kind.ts";
import { isBelow } from "../plan/graph.ts";
import { isEnded } from "../run/run-status.ts";
import { endWith } from "../schedule/consequences.ts";
import { shellWord } from "../text/shell-word.ts";
import { counted } from "./words.ts";
import type { TopRow } from "./run-rows.ts";

/** An action that a person can take on a row of the screen (a task or a run). */
export type RowAction = Readonly<{
  /** The key of the action, and the word shown beside it. */
  key: string;
  word: string;
  does:
    | "open"
    | "diff"
    | "allow"
    | "always"
    | "network"
    | "deny"
    | "answer"
    | "message"
    | "pause"
    | "resume"
    | "retry"
    | "cancel"
    | "copy";
  /** The command line of the action, without `subcrew`. */
  words?: readonly string[];
  /** A warning that names what else ends with this action. */
  warns?: string;
}>;

/**
 * The actions that make sense for a row, the most urgent first. `warns: false` omits the warnings about what else an
 * action ends, which are slow to compute; for a screen that only shows the keys.
 */
export function rowActions(row: TopRow, { warns = true }: Readonly<{ warns?: boolean }> = {}): RowAction[] {
  const { node, run, key, path, group } = row;
  const ended = isEnded(run.life);
  const idle = run.life === "interrupted" || run.life === "paused";
  const running = node?.status === "running" && !ended;
  const isOpen = running && node.question !== undefined && !run.answered?.includes(path);
  const asked = isOpen ? answerKind(node) : undefined;
  const list: (RowAction | false)[] = [
    asked !== undefined && asked !== "words" && { key: "y", word: "allow", does: "allow" },
    asked !== undefined && { key: "n", word: "deny", does: "deny" },
    asked === "permission" && node?.offersNetwork === true && { key: "w", word: "with network", does: "network" },
    asked === "permission" && { key: "a", word: "always", does: "always" },
    asked === "words" && { key: "i", word: "answer", does: "answer" },
    { key: "enter", word: "open", does: "open" },
    running && !idle && node.kind === "task" && { key: "m", word: "message", does: "message" },
    !ended &&
      !idle &&
      (path === "" || running) &&
      run.life !== "damaged" && {
        key: "p",
        word: path === "" ? "pause" : "pause run",
        does: "pause",
        words: ["stop", run.id],
      },
    !ended && idle && { key: "p", word: "resume", does: "resume", words: ["resume", run.id, "--bg"] },
    group === "failed" &&
      run.life !== "damaged" && {
        key: "r",
        word: "retry",
        does: "retry",
        words: ["resume", key, "--retry-failed", "--bg"],
      },
    !ended &&
      run.life !== "damaged" &&
      (path === "" || node === undefined || running) && {
        key: "x",
        word: "cancel",
        does: "cancel",
        words: ["cancel", key],
        ...(warns && { warns: cancelText(row) }),
      },
    { key: "d", word: "diff", does: "diff", words: ["diff", key] },
    { key: "c", word: "copy", does: "copy" },
  ];
  return list.filter((action) => action !== false);
}

/** The question before a row is cancelled: it names everything that ends with the row. */
function cancelText({ run, path, name }: TopRow): string {
  const { state } = run;
  const open = [...state.nodes.values()].filter(({ status, kind }) => status === "running" && kind !== "join");
  if (path === "")
    return `Cancel the run "${name}"? ${counted(open.length, "task")} under way will end; the run cannot be resumed.`;
  const helpers = open.filter((node) => isBelow(node.path, path)).length;
  const skipped =
    state.plan && !path.includes("/")
      ? endWith({ body: state.plan, outcomeOf: (id) => state.nodes.get(id)?.outcome }, path)
      : [];
  const also = [
    ...(helpers > 0 ? [`${counted(helpers, "helper")} will end`] : []),
    ...(skipped.length > 0
      ? [
          `skipped as a result: ${skipped.slice(0, 4).join(", ")}${skipped.length > 4 ? ` and ${skipped.length - 4} more` : ""}`,
        ]
      : []),
  ];
  return `Cancel "${name}"? ${also.length === 0 ? "Nothing else ends." : `Also ${also.join("; ")}.`}`;
}

/** The shell command for the most urgent action on a row. */
export function commandFor(row: TopRow): string {
  const { key, node, group, run } = row;
  const words =
    group === "needs you" && node?.question !== undefined
      ? ["inbox", "allow", key]
      : (rowActions(row).find(({ does }) => does === "retry" || does === "resume")?.words ??
        (isEnded(run.life) ? ["show", run.id] : ["status", run.id]));
  return ["subcrew", ...words].map(shellWord).join(" ");
}
