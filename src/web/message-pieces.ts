import type { RunMessage } from "./client/wire.ts";

/** The number of tasks in one message, so that a tab on a slow connection gets a message every few seconds. */
const TASKS = 250;

/**
 * Splits a snapshot into messages. Only the last message has the log, so a tab that misses it counts as having seen no
 * events.
 */
export function messagePieces(snapshot: RunMessage): readonly RunMessage[] {
  const { tasks, order } = snapshot;
  if (tasks.length <= TASKS) return [snapshot];
  const starts = Array.from({ length: Math.ceil(tasks.length / TASKS) }, (_, at) => at * TASKS);
  return starts.map((from): RunMessage => {
    const end = from + TASKS;
    const part = { ...snapshot, tasks: tasks.slice(from, end) };
    return end >= tasks.length
      ? part
      : { ...part, full: false, more: true, order: order?.slice(0, end), log: [], continues: true };
  });
}

/**
 * The changes between two snapshots. The later snapshot was requested with the number of the last event in the earlier
 * snapshot.
 */
export function messageChanges(before: RunMessage, after: RunMessage): RunMessage {
  const known = new Map(before.tasks.map((row) => [row.path, JSON.stringify(row)]));
  const tasks = after.tasks.filter((row) => known.get(row.path) !== JSON.stringify(row));
  const paths = new Set(after.tasks.map(({ path }) => path));
  return { ...after, full: false, tasks, gone: [...known.keys()].filter((path) => !paths.has(path)) };
}
