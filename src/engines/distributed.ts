import type { Outcome } from "../core/outcome/outcome.ts";
import type { KeptEvent } from "../core/run/event.ts";
import type { Engine } from "../core/task/engine.ts";
import { taskContext } from "../core/task/task-context.ts";
import { defined } from "../core/text/defined.ts";
import { engineAnswers } from "./calls/answers.ts";
import { callTable } from "./calls/call-table.ts";
import { createClassList } from "./calls/classes.ts";
import { createInbox } from "./calls/inbox.ts";
import { keyOfCall, performCall, type PlacementQueue } from "./calls/perform-call.ts";
import { createSupervisor } from "./calls/supervise.ts";
import { engineTimers } from "./calls/timers.ts";
import type { Connection } from "./connect.ts";
import type { Coordination, RunEngineParts } from "./engine-kind.ts";

/** How long a task that may not park (wait without a limit) waits for a worker. */
const PLACEMENT_MS = 60_000;
/** How much each running task of a run lowers the priority of its next tasks, so that runs share workers fairly. */
const PRIORITY_STEP = 10_000;

/** Coordinates runs whose tasks are executed by workers. */
export function coordinate(
  { database, presence, store }: Connection,
  queue: PlacementQueue & Readonly<{ close(): Promise<void> }>,
): Coordination {
  const table = callTable(database);
  const inbox = createInbox(database, presence.id, "facts");
  const supervisor = createSupervisor(table, inbox, presence.id);
  const classes = createClassList(database);
  const performing = new Map<string, Promise<Outcome>>();
  const inFlight = new Map<string, number>();
  /** For each run: the task that ended last. */
  const lastEnded = new Map<string, string>();

  const engine = ({
    job,
    journal,
    tape,
    workspace,
    bring,
    returned,
    priority = 5,
    placementTimeoutMs = PLACEMENT_MS,
  }: RunEngineParts): Engine => ({
    perform: (call, given) => {
      const context = taskContext(given, {
        remote: {
          ...defined({ tape, workspace: workspace?.(call) }),
          ...(returned && { returned: async () => returned(call) }),
        },
      });
      const key = keyOfCall(call);
      const known = performing.get(key);
      if (known) return known;
      const outcome = (async (): Promise<Outcome> => {
        const made = await job(call, context);
        if ("status" in made) return made;
        const leave = await presence.enter();
        const others = inFlight.get(call.run) ?? 0;
        inFlight.set(call.run, others + 1);
        try {
          const writer = store.writer(call.run);
          const ended = await performCall(call, context, {
            database,
            table,
            inbox,
            supervisor,
            queue,
            classes: () => classes.read(call.depth > 0), // helpers of one task are often placed at the same moment
            placing: classes.placing,
            writer,
            job: others === 0 ? { ...made, isAlone: true } : made,
            after: others === 0 ? lastEnded.get(call.run) : undefined,
            by: { owner: presence.id, run: call.run, runEpoch: writer?.epoch ?? 0 },
            priority: priority * PRIORITY_STEP + Math.min(others, PRIORITY_STEP - 1),
            placementTimeoutMs,
          });
          lastEnded.set(call.run, key);
          return bring ? await bring(call, context, ended) : ended;
        } finally {
          const left = (inFlight.get(call.run) ?? 1) - 1;
          if (left > 0) inFlight.set(call.run, left);
          else inFlight.delete(call.run);
          await leave();
        }
      })();
      const forget = (): void => void performing.delete(key);
      performing.set(key, outcome);
      outcome.then(forget, forget);
      return outcome;
    },
    sleep: engineTimers(database),
    ...engineAnswers(database),
    journal: async (run, listener) => {
      const opened = await journal(run, listener);
      let last: KeptEvent | undefined;
      return {
        ...opened,
        append: (event) => {
          last = event;
          opened.append(event);
        },
        close: async () => {
          // Only a recorded end counts. A process that lost its run to another process also ends the run locally, but
          // the run's tasks then belong to the other process.
          const isOver =
            last?.type === "run.ended" &&
            (await opened.durable().then(
              () => true,
              () => false,
            ));
          lastEnded.delete(run);
          if (isOver) await table.forgetRun(run).catch(() => {});
          await opened.close();
        },
      };
    },
  });
  return { engine, close: () => queue.close() };
}
