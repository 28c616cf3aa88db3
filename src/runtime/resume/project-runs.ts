import type { KeptEvent } from "../../core/run/event.ts";
import { type RunStatus, runStatusOf } from "../../core/run/run-status.ts";
import { emptyState, reduce } from "../../core/run/state.ts";
import { defined } from "../../core/text/defined.ts";
import { isOwned } from "../disk/run-claim.ts";
import { readJournal } from "../store/journal.ts";
import { firstEvent, type Store } from "../store/store.ts";

/** The runs of one project, as agents that work in it may look at them. */
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

/** The history in a store; what happened in other projects is not shown. */
export function openProjectRuns(store: Store, project: string): ProjectRuns {
  const isOurs = async (run: string): Promise<boolean> => {
    const first = await firstEvent(store.folder(run));
    return first?.type === "run.started" && first.cwd === project;
  };
  const look = async (id: string): Promise<PastRun | undefined> => {
    const { events } = await readJournal(store.folder(id)).catch(() => ({ events: [] }));
    if (events.length === 0) return undefined;
    const state = events.reduce(reduce, emptyState(id));
    const views = [...state.nodes.values()].filter(({ kind }) => kind === "task");
    return {
      id,
      life: runStatusOf(state, await isOwned(store.folder(id))),
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
      if (!/^run_[a-z0-9]{12}$/.test(run) || !(await isOurs(run))) return undefined;
      return (await readJournal(store.folder(run)).catch(() => undefined))?.events;
    },
  };
}
