import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { formatDuration } from "../../../core/text/duration.ts";
import type { Group } from "../../../core/view/row-groups.ts";
import type { Life, WebProblem } from "../wire.ts";
import { now } from "./stream.ts";

/** A symbol for a state; the word beside it says the same. */
export function Sign({ group, status }: Readonly<{ group: Group; status?: string }>): JSX.Element {
  const kind = status === "cancelled" || status === "skipped" ? "idle" : group;
  return <span class={`sign ${kind.replace(" ", "-")}`} aria-hidden="true" />;
}

const lifeWords: Readonly<Record<Life, string>> = {
  starting: "starting",
  running: "running",
  waiting: "needs you",
  parked: "parked",
  paused: "paused",
  interrupted: "interrupted",
  ok: "done",
  failed: "failed",
  cancelled: "cancelled",
  damaged: "damaged",
};

const lifeGroups: Readonly<Record<Life, string>> = {
  starting: "working",
  running: "working",
  waiting: "needs-you",
  parked: "waiting",
  paused: "waiting",
  interrupted: "waiting",
  ok: "done",
  failed: "failed",
  cancelled: "idle",
  damaged: "failed",
};

export function LifeChip({ life }: Readonly<{ life: Life }>): JSX.Element {
  return <span class={`chip ${lifeGroups[life]}`}>{lifeWords[life]}</span>;
}

/** How long something took, or has been running. */
export function Elapsed({
  from,
  to,
}: Readonly<{ from: number | undefined; to: number | undefined }>): JSX.Element | null {
  if (from === undefined || from === 0) return null;
  return (
    <span class="number">{formatDuration(Math.max(0, (to ?? now.value) - from), "spaced").replace(" ", "\u00a0")}</span>
  );
}

/** Shows an age such as `5 min ago`, with the full date as a tooltip. */
export function Ago({ at }: Readonly<{ at: number }>): JSX.Element | null {
  if (at === 0) return null;
  const span = now.value - at;
  const text = span < 45_000 ? "just now" : `${rounded(span)} ago`;
  return (
    <time class="number" dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {text}
    </time>
  );
}

function rounded(span: number): string {
  const minutes = Math.round(span / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 36 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** The last folder of a path. */
export const projectName = (folder: string): string => folder.split(/[\\/]/).findLast((part) => part !== "") ?? "";

export function ErrorBox({ problem }: Readonly<{ problem: WebProblem }>): JSX.Element {
  return (
    <div class="error" role="alert">
      <strong>{problem.message}</strong>
      {problem.hint === "" ? null : <p>{problem.hint}</p>}
    </div>
  );
}

/** Shows that a page has no content yet, and what to do about it. */
export function Empty({ title, children }: Readonly<{ title: string; children: ComponentChildren }>): JSX.Element {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A shell command, and a button that copies it. */
export function CopyCommand({
  command,
  label = "Copy command",
}: Readonly<{ command: string; label?: string }>): JSX.Element {
  const copied = useSignal(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      copied.value = true;
      setTimeout(() => {
        copied.value = false;
      }, 1_500);
    } catch {
      prompt("Copy the command:", command);
    }
  };
  return (
    <button type="button" class="quiet copy" title={command} onClick={() => void copy()}>
      {copied.value ? "Copied" : label}
    </button>
  );
}

/** A command to type, in an empty state. */
export function Command({ line }: Readonly<{ line: string }>): JSX.Element {
  return (
    <p class="command">
      <code>{line}</code>
      <CopyCommand command={line} label="Copy" />
    </p>
  );
}
