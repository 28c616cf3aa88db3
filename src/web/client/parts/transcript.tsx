import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { formatCost, tokensText } from "../../../core/outcome/usage.ts";
import { explain } from "../../../core/outcome/outcome.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import type { CallEntry } from "../../../core/view/transcript.ts";
import type { TaskRow, TranscriptPart } from "../wire.ts";
import { get, problemOf } from "./api.ts";
import { DiffView, looksLikeDiff } from "./diff.tsx";
import { Markdown } from "./markdown.tsx";
import { ErrorBox } from "./words.tsx";

type Shown = TranscriptPart["entries"][number];
type Props = Readonly<{
  run: string;
  path: string;
  row: TaskRow | undefined;
  seq: number;
  turn: string;
  linkToTurn(turn: number): string;
}>;

/** The shortest time between two reads of the transcript of a running task. */
const EVERY_MS = 700;

/** Shows the transcript of a task: its prompt, the answers of the model, its tool calls. It opens at the end. */
export function TranscriptView({ run, path, row, seq, turn, linkToTurn }: Props): JSX.Element {
  const entries = useSignal<readonly Shown[]>([]);
  const problem = useSignal<ReturnType<typeof problemOf> | undefined>(undefined);
  const read = useSignal("");
  const bottom = useRef<HTMLDivElement>(null);
  const pinned = useRef(true);
  const readAt = useRef(0);
  const key = `${run}/${path}`;

  useEffect(() => {
    let over = false;
    const wait = read.value === key ? Math.max(0, EVERY_MS - (Date.now() - readAt.current)) : 0;
    const timer = setTimeout(() => {
      readAt.current = Date.now();
      get<TranscriptPart>("transcript", { run, path }).then(
        (part) => {
          if (over) return;
          const before = read.value === key ? entries.value.filter(({ at }) => at < part.from) : [];
          entries.value = [...before, ...part.entries];
          read.value = key;
          problem.value = undefined;
        },
        (error: unknown) => {
          if (!over) problem.value = problemOf(error);
        },
      );
    }, wait);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [key, seq]);

  // The model turn that the link names may be earlier than the loaded entries.
  const isThere = entries.value.some(({ entry }) => entry.kind === "turn" && String(entry.turn) === turn);
  useEffect(() => {
    if (turn !== "" && read.value === key && !isThere && (entries.value[0]?.at ?? 0) > 0) void earlier();
  }, [turn, read.value, entries.value]);

  useLayoutEffect(() => {
    const box = bottom.current?.closest(".detail-body");
    if (!box) return;
    if (turn !== "") {
      const wanted = box.querySelector(`#turn-${CSS.escape(turn)}`);
      if (wanted && pinned.current) {
        wanted.scrollIntoView({ block: "start" });
        pinned.current = false;
      }
    } else if (pinned.current && row?.status === "running") box.scrollTop = box.scrollHeight;
  }, [entries.value, row?.text, turn]);
  useEffect(() => {
    const box = bottom.current?.closest(".detail-body");
    pinned.current = true;
    if (!box) return;
    const scrolled = (): void => {
      pinned.current = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
    };
    box.addEventListener("scroll", scrolled, { passive: true });
    return () => box.removeEventListener("scroll", scrolled);
  }, [key]);

  const earlier = async (): Promise<void> => {
    const first = entries.value[0]?.at ?? 0;
    try {
      const part = await get<TranscriptPart>("transcript", { run, path, before: String(first) });
      if (entries.value[0]?.at === first && read.value === key) entries.value = [...part.entries, ...entries.value];
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  if (problem.value && entries.value.length === 0) return <ErrorBox problem={problem.value} />;
  if (read.value !== key) return <p class="dim wait">Reading the transcript …</p>;
  const first = entries.value[0]?.at ?? 0;
  const live = row?.status === "running" ? row.text : "";
  return (
    <div class="transcript">
      {first > 0 ? (
        <button type="button" class="quiet" onClick={() => void earlier()}>
          {first} earlier entries
        </button>
      ) : null}
      {entries.value.length === 0 ? (
        <p class="dim">{row?.status === "planned" ? "The task has not begun." : "Nothing has happened yet."}</p>
      ) : null}
      {entries.value.map((shown) => (
        <Entry key={shown.at} shown={shown} linkToTurn={linkToTurn} />
      ))}
      {live === "" ? null : (
        <article class="entry live-text" aria-busy="true">
          <h3>writing …</h3>
          <Markdown text={live} />
        </article>
      )}
      <div ref={bottom} />
    </div>
  );
}

function Entry({
  shown: { entry, diff },
  linkToTurn,
}: Readonly<{ shown: Shown; linkToTurn(turn: number): string }>): JSX.Element {
  switch (entry.kind) {
    case "prompt":
      return (
        <article class="entry prompt">
          <h3>{entry.attempt > 1 ? `Prompt, attempt ${entry.attempt}` : "Prompt"}</h3>
          <Markdown text={entry.text} />
        </article>
      );
    case "turn": {
      const { input, output, cacheRead, cacheWrite } = entry.usage;
      return (
        <article class="entry turn" id={`turn-${entry.turn}`}>
          <h3>
            <a href={linkToTurn(entry.turn)}>Turn {entry.turn}</a>
            <span class="dim number">
              {entry.model} · {tokensText(input + output + cacheRead + cacheWrite)}
              {entry.cost.usd > 0 || entry.cost.unpriced > 0 ? ` · ${formatCost(entry.cost)}` : ""}
            </span>
          </h3>
          {entry.thinking === "" ? null : (
            <details>
              <summary>thinking</summary>
              <Markdown text={entry.thinking} />
            </details>
          )}
          {entry.text === "" ? null : <Markdown text={entry.text} />}
        </article>
      );
    }
    case "call":
      return <Call call={entry} diff={diff} />;
    case "question":
      return (
        <article class="entry question">
          <h3>Question</h3>
          <Markdown text={entry.text} />
          {entry.answer ? (
            <p class={entry.answer.approve ? "good" : "bad"}>
              {entry.answer.approve ? "Allowed" : "Denied"}
              {entry.answer.by === undefined ? "" : ` by ${entry.answer.by}`}
              {entry.answer.text === undefined ? "" : `: ${entry.answer.text}`}
            </p>
          ) : (
            <p class="needs-you-text">Waits for an answer.</p>
          )}
        </article>
      );
    case "message":
      return (
        <article class="entry message">
          <h3>Message from {entry.from}</h3>
          <Markdown text={entry.text} />
        </article>
      );
    case "note":
      return (
        <p class={`entry note ${entry.label === "warning" || entry.label === "limit" ? "warn" : ""}`}>
          <span class="dim">{entry.label}</span> {entry.text}
        </p>
      );
    case "end":
      return (
        <article class={`entry end ${entry.outcome.status}`}>
          <h3>{entry.outcome.status === "ok" ? "Result" : entry.outcome.status}</h3>
          <Markdown text={explain(entry.outcome)} />
        </article>
      );
  }
}

const LINES = 12;

function Call({ call, diff }: Readonly<{ call: CallEntry; diff: string | undefined }>): JSX.Element {
  const { tool, input, state, result, ms } = call;
  const change = diff ?? (looksLikeDiff(result) ? result : undefined);
  const lines = result.split("\n").length;
  return (
    <article class={`entry call ${state}`}>
      <details open={change !== undefined || (lines <= LINES && state !== "ok")}>
        <summary>
          <span
            class={`sign ${state === "ok" ? "done" : state === "open" ? "working" : "failed"}`}
            aria-hidden="true"
          />
          <strong>{tool}</strong> <span class="doing">{previewOf(input)}</span>
          <span class="dim number">
            {state === "open" ? "running" : state === "ok" ? (ms === undefined ? "" : formatDuration(ms)) : state}
          </span>
        </summary>
        {change === undefined ? (
          <>
            <pre class="input" tabIndex={0}>
              {inputText(input)}
            </pre>
            {result === "" ? null : <pre tabIndex={0}>{result}</pre>}
          </>
        ) : (
          <DiffView text={change} />
        )}
      </details>
    </article>
  );
}

const inputText = (input: unknown): string => (typeof input === "string" ? input : JSON.stringify(input, null, 2));

/** The first text among the arguments: the path, the command or the pattern. */
function previewOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const values = input as Record<string, unknown>;
  const key = ["command", "path", "file_path", "pattern", "url", "query", "prompt"].find(
    (name) => typeof values[name] === "string",
  );
  const first = key === undefined ? Object.values(values).find((value) => typeof value === "string") : values[key];
  return typeof first === "string" ? first.split("\n", 1)[0]!.slice(0, 160) : "";
}
