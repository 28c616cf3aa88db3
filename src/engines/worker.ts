import type { Connection } from "./connect.ts";
import type { QueueListener, QueueListenerOptions } from "./dbos/listen.ts";
import type { Worker } from "./engine-kind.ts";
import { PROCESSES_CHANNEL } from "./postgres/channel-name.ts";
import { workerClassOf } from "./worker-class.ts";
import { type WorkerTaskParts, WorkerTasks } from "./worker-tasks.ts";

export type WorkerOptions = WorkerTaskParts &
  Readonly<{
    /**
     * Listens to the queue from which this worker takes tasks; all workers with the same capabilities (a class) share one
     * queue.
     */
    listen(options: QueueListenerOptions): Promise<QueueListener>;
  }>;

/** Starts a worker, which takes tasks from its queue. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { connection, announcement, pollMs } = options;
  const { database, presence } = connection;
  const name = workerClassOf(announcement);
  const tasks = new WorkerTasks(options);
  const leave = await presence.enter();
  const listener = await options.listen({
    database,
    worker: presence.id,
    class: name,
    slots: announcement.slots,
    pollMs,
    protocols: announcement.protocols,
    work: (call, epoch) => tasks.serve({ call, epoch }),
  });
  await announceChange(connection);
  return {
    id: presence.id,
    class: name,
    working: () => tasks.working(),
    onDrain: (told) => {
      const timer = setInterval(() => {
        if (!presence.draining()) return;
        clearInterval(timer);
        told();
      }, 500);
      tasks.draining.addEventListener("abort", () => clearInterval(timer), { once: true });
    },
    drain: async (graceMs) => {
      tasks.drain();
      await database.query("update subcrew.processes set draining = true where id = $1", [presence.id]).catch(() => {});
      const late = setTimeout(() => tasks.handBackAll(), graceMs);
      await Promise.all([listener.stop(graceMs + LAST_MS), tasks.sparesEnd(graceMs + LAST_MS)]);
      clearTimeout(late);
      await leave();
      await announceChange(connection);
    },
  };
}

/** The time for tasks to end after they were given back. */
const LAST_MS = 3_000;

const announceChange = async ({ database }: Connection): Promise<void> => {
  await database.query("select pg_notify($1, '')", [PROCESSES_CHANNEL]).catch(() => {});
};
