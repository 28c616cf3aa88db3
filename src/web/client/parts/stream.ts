import { signal } from "@preact/signals";
import type { LogLine, NeedRow, RunHead, RunMessage, RunRow, RunsMessage, TaskRow, WebProblem } from "../wire.ts";
import { get } from "./api.ts";

/** The rows of the list of runs, as the server sent them. */
export const runRows = signal<ReadonlyMap<string, RunRow>>(new Map());
export const order = signal<readonly string[]>([]);
export const older = signal(0);
export const needs = signal<readonly NeedRow[]>([]);
export const loaded = signal(false);
export const connection = signal<"connecting" | "open" | "lost">("connecting");

/** The run that is shown. Its maps change in place; `changeCount` counts the changes. */
export type OpenRun = {
  readonly id: string;
  readonly tasks: Map<string, TaskRow>;
  readonly log: LogLine[];
  order: readonly string[];
};
export const openRun = signal<OpenRun | undefined>(undefined);
export const head = signal<RunHead | undefined>(undefined);
export const changeCount = signal(0);
export const missing = signal<WebProblem | undefined>(undefined);

/** The current time, updated once a second, for the display of ages. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);

let source: EventSource | undefined;
let wanted: string | undefined;
let last = "";
let heardAt = 0;

/** Follows the list of runs, and one run in detail. */
export function watchRuns(run: string | undefined): void {
  if (source && run === wanted) return;
  wanted = run;
  last = "";
  openRun.value = run === undefined ? undefined : { id: run, tasks: new Map(), log: [], order: [] };
  head.value = undefined;
  missing.value = undefined;
  connect();
}

function connect(): void {
  source?.close();
  const query = new URLSearchParams();
  if (wanted !== undefined) query.set("run", wanted);
  if (last !== "") query.set("last", last);
  const stream = new EventSource(`events?${query.toString()}`);
  source = stream;
  heardAt = Date.now();
  stream.addEventListener("open", () => {
    connection.value = "open";
    heardAt = Date.now();
  });
  stream.addEventListener("error", () => {
    if (source !== stream) return;
    connection.value = "lost";
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => source === stream && connect(), 1_000);
  });
  stream.addEventListener("beat", () => {
    heardAt = Date.now();
  });
  stream.addEventListener("runs", (event) => takeRuns(JSON.parse(String(event.data)) as RunsMessage));
  stream.addEventListener("run", (event) => {
    if (source !== stream) return;
    last = event.lastEventId;
    takeRun(JSON.parse(String(event.data)) as RunMessage);
  });
  stream.addEventListener("gone", (event) => {
    missing.value = JSON.parse(String(event.data)) as WebProblem;
  });
}

function takeRuns(message: RunsMessage): void {
  heardAt = Date.now();
  const next = new Map(message.full ? [] : runRows.value);
  for (const row of message.runs) next.set(row.id, row);
  for (const id of message.gone) next.delete(id);
  runRows.value = next;
  order.value = message.order;
  older.value = message.older;
  needs.value = message.needs;
  loaded.value = true;
}

function takeRun(message: RunMessage): void {
  heardAt = Date.now();
  const run = openRun.value;
  if (!run) return;
  for (const task of message.tasks) run.tasks.set(task.path, task);
  for (const path of message.full ? missingIn(run.tasks, message.order ?? []) : message.gone) run.tasks.delete(path);
  // An incomplete snapshot does not replace a larger tree that is already shown.
  if (message.order && !(message.more && run.order.length > message.order.length)) run.order = message.order;
  if (!message.continues) run.log.length = 0;
  for (const line of message.log) run.log.push(line);
  if (!wholeLog && run.log.length > MOST_LINES) run.log.splice(0, run.log.length - MOST_LINES / 2);
  head.value = message.head;
  changeCount.value += 1;
}

function missingIn(tasks: ReadonlyMap<string, TaskRow>, paths: readonly string[]): readonly string[] {
  const there = new Set(paths);
  return [...tasks.keys()].filter((path) => !there.has(path));
}

/** The maximum number of log lines kept while new lines arrive; earlier lines can be loaded again. */
const MOST_LINES = 20_000;
let wholeLog = false;

/** Sets whether all log lines are kept. With `true`, no lines are dropped, because a person reads earlier lines. */
export function keepWholeLog(keep: boolean): void {
  wholeLog = keep;
}

/** Inserts earlier lines before the loaded lines, unless the loaded lines have changed in the meantime. */
export function addEarlier(run: OpenRun, lines: readonly LogLine[]): void {
  const [last, first] = [lines.at(-1), run.log[0]];
  if (openRun.value !== run || !last || !first || last.seq >= first.seq) return;
  run.log.unshift(...lines);
  changeCount.value += 1;
}

/**
 * Without a message for this time the connection counts as dead, as after sleep. The server sends something every ten
 * seconds.
 */
const SILENT_MS = 25_000;
/** A tab that is hidden for this time closes its connection, because browsers allow few connections per server. */
const HIDDEN_MS = 60_000;
const LOOK_MS = 15_000;

let hiddenAt = 0;
setInterval(() => {
  if (document.hidden && source && Date.now() - hiddenAt > HIDDEN_MS) {
    source.close();
    source = undefined;
    connection.value = "connecting";
  } else if (source && Date.now() - heardAt > SILENT_MS) connect();
}, 2_000);
setInterval(() => {
  if (document.hidden && !source)
    get<readonly NeedRow[]>("needs").then(
      (rows) => {
        needs.value = rows;
      },
      () => {},
    );
}, LOOK_MS);
document.addEventListener("visibilitychange", () => {
  hiddenAt = document.hidden ? Date.now() : 0;
  if (document.hidden) return;
  now.value = Date.now();
  if (!source || Date.now() - heardAt > SILENT_MS) connect();
});
addEventListener("online", () => connect());
