import type { Outcome } from "../core/outcome/outcome.ts";
import type { StartedNode } from "../core/task/engine.ts";
import { endedRecord, type TaskRecord } from "./task-records.ts";

/** The tasks that one agent has started, kept while the agent works. */
export type StartedTasks = Readonly<{
  /** The record of a task, if this agent started it. */
  get(id: string): TaskRecord | undefined;
  all(): readonly TaskRecord[];
  /** The agent of a task, including tasks that the caller waited for. */
  typeOf(id: string): string | undefined;
  /** Stores the agent of a task. */
  did(id: string, type: string): void;
  /** The key by which the run knows a task. */
  key(id: string): string | undefined;
  begin(record: TaskRecord, begun: StartedNode): void;
  end(id: string, outcome: Outcome, said: Readonly<{ endedAt: number; result: string }>): TaskRecord | undefined;
}>;

export function createStartedTasks(): StartedTasks {
  const records = new Map<string, TaskRecord>();
  const keys = new Map<string, string>();
  const types = new Map<string, string>();
  return {
    typeOf: (id) => types.get(id) ?? records.get(id)?.type,
    did: (id, type) => void types.set(id, type),
    get: (id) => records.get(id),
    all: () => [...records.values()],
    key: (id) => keys.get(id),
    begin: (record, { key }) => {
      records.set(record.id, record);
      keys.set(record.id, key);
    },
    end: (id, outcome, said) => {
      const record = records.get(id);
      if (record?.status !== "running") return record;
      const ended = endedRecord(record, outcome, said);
      records.set(id, ended);
      return ended;
    },
  };
}
