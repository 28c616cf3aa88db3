import type { KeptEvent } from "../../core/run/event.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { type RunStatus, runStatusOf } from "../../core/run/run-status.ts";
import { emptyState, reduce } from "../../core/run/state.ts";
import { defined } from "../../core/text/defined.ts";
import { RUN_ID } from "../store/run-id.ts";

/** The runs of one project, for agents that work in it. */
export type ProjectRuns = Readonly<{
  list(limit: number): Promise<readonly PastRun[]>;
  /** The events of a run of this project; `undefined` when there is no such run. */
  events(run: string): Promise<readonly KeptEvent[] | undefined>;
}>;

export type PastRun = Readonly<{
  id: string;
  name?: string;
  life: RunStatus;
  startedAt: number;
  tasks: readonly PastTask[];
}>;
export type PastTask = Readonly<{ path: string; agent?: string; status: string }>;

/** The runs of one project in a store; other projects' runs are not shown. */
export function openProjectRuns(store: RunStore, project: string): ProjectRuns {
  const isOurs = async (run: string): Promise<boolean> => {
    const first = await store.first(run);
    return first?.type === "run.started" && first.cwd === project;
  };
  const wholeRecords = async (id: string): Promise<readonly KeptEvent[] | undefined> =>
    (await store.readWhole(id).catch(() => undefined))?.events;
  const look = async (id: string): Promise<PastRun | undefined> => {
    const events = await wholeRecords(id);
    if (!events || events.length === 0) return undefined;
    const state = events.reduce(reduce, emptyState(id));
    const views = [...state.nodes.values()].filter(({ kind }) => kind === "task");
    return {
      id,
      life: runStatusOf(state, (await store.owner(id)) !== undefined),
      startedAt: state.startedAt,
      tasks: views.map(({ path, agent, status }) => ({ path, status, ...defined({ agent }) })),
      ...defined({ name: state.name }),
    };
  };
  return {
    list: async (limit) => {
      const found: PastRun[] = [];
      for (const id of await store.list()) {
        if (found.length >= limit) break;
        const run = (await isOurs(id)) ? await look(id) : undefined;
        if (run) found.push(run);
      }
      return found;
    },
    events: async (run) => {
      if (!RUN_ID.test(run) || !(await isOurs(run))) return undefined;
      return wholeRecords(run);
    },
  };
}
