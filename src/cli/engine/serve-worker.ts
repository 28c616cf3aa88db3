import { resolve } from "node:path";
import { jsonText } from "../../core/text/json-text.ts";
import { announcementOf, jobPerformer } from "../../crew/engine/serve-jobs.ts";
import { connectEngine } from "../../engines/connect.ts";
import { listenToQueue } from "../../engines/dbos/listen.ts";
import { dbosQueue } from "../../engines/dbos/queue.ts";
import { reap } from "../../engines/calls/reaper.ts";
import { demandSchema } from "../../engines/postgres/migrate.ts";
import { PROTOCOL } from "../../engines/postgres/presence.ts";
import { startWorker } from "../../engines/worker.ts";
import { pause } from "../../runtime/async/cancel.ts";
import { readRequest } from "../../runtime/background/run-request.ts";
import { foldWhole } from "../../runtime/store/fold-journal.ts";
import { createMemoryStore } from "../../runtime/store/memory-store.ts";
import type { Flags } from "../base/flags.ts";
import { permissionsIn } from "../base/permission-flags.ts";
import { crewFor } from "../launch/start.ts";
import { engineUrl } from "./named-engine.ts";

const REAP_EVERY_MS = 1_000;

/** `subcrew worker`: until a signal, or until it is drained. */
export async function serveWorker(flags: Flags): Promise<number> {
  const url = await engineUrl(flags);
  const crew = await crewFor(flags);
  const { slots = 8, poll = 100, grace = 30_000, quiet = false, scratch = false, coordinate = true } = flags;
  const folders = (flags.workspaces ?? [crew.cwd]).map((folder) => resolve(folder));
  const setup = crew.setupFor({ engine: url, permissions: permissionsIn(flags) });
  const places = { folders, scratch, slots, protocols: [PROTOCOL] };
  const announcement = await announcementOf(setup, places);
  const connection = connectEngine(url, createMemoryStore(), {
    role: coordinate ? "work, coordinate" : "work",
    announcement,
  });
  await demandSchema(connection.database);
  const told = nextEnd();
  const worker = await startWorker({
    connection,
    announcement,
    pollMs: poll,
    listen: listenToQueue,
    perform: jobPerformer(setup, places),
  });
  worker.onDrain(() => told.end(0));
  const queue = dbosQueue(url, PROTOCOL);
  const over = new AbortController();
  const reaping = takeOverDead({ connection, queue, coordinate, quiet, signal: over.signal });
  if (flags.json) process.stdout.write(`${jsonText({ worker: worker.id, class: worker.class, ...announcement })}\n`);
  else if (!quiet)
    process.stderr.write(
      `${worker.id} takes tasks: ${slots} at once, in ${folders.join(", ")}${scratch ? " and empty folders" : ""}; providers: ${announcement.providers.join(", ") || "none"}.\nCtrl-C finishes or gives back its tasks and ends it.\n`,
    );
  const code = await told.code;
  over.abort();
  await reaping;
  if (!quiet && !flags.json) process.stderr.write(`ending: ${worker.working().length} tasks to finish or give back\n`);
  await worker.drain(grace);
  await queue.close();
  await connection.database.close();
  return code;
}

type Reaping = Readonly<{
  connection: ReturnType<typeof connectEngine>;
  queue: ReturnType<typeof dbosQueue>;
  coordinate: boolean;
  quiet: boolean;
  signal: AbortSignal;
}>;

/** Hands over what dead workers had, and goes on with runs of dead processes. */
async function takeOverDead({ connection, queue, coordinate, quiet, signal }: Reaping): Promise<void> {
  const taken = new Map<string, { pause(reason: string): void }>();
  const working: Promise<unknown>[] = [];
  while (await pause(REAP_EVERY_MS, signal)) {
    const orphans = await reap(connection.database, queue).catch(() => []);
    for (const id of coordinate ? orphans : []) {
      if (taken.has(id)) continue;
      const found = await resumed(connection, id).catch(() => undefined);
      if (!found) continue;
      const { run } = found;
      if (!quiet) process.stderr.write(`takes over ${id}, whose process died\n`);
      taken.set(id, run);
      working.push(
        Promise.resolve(run)
          .catch(() => {})
          .finally(() => taken.delete(id)),
      );
    }
  }
  for (const run of taken.values()) run.pause("the worker that coordinated it ends");
  await Promise.all(working);
}

/** The run, resumed as its request says, or as its records do. */
async function resumed(
  { store }: Reaping["connection"],
  id: string,
): Promise<Readonly<{ run: PromiseLike<unknown> & { pause(reason: string): void } }> | undefined> {
  const asked = await readRequest(store, id).catch(() => undefined);
  const { cwd, endedAt } = await foldWhole(store, id);
  if (endedAt !== undefined) return undefined;
  const crew = await crewFor({ quiet: true, ...(asked?.crew ?? { cwd }) });
  const { options = {} } = asked ?? {};
  return { run: crew.resume(id, { parkByDefault: true, ...options }) };
}

/** The exit code that a signal asks for, or another reason to end. A second signal ends at once. */
function nextEnd(): Readonly<{ code: Promise<number>; end(code: number): void }> {
  let end: (code: number) => void = () => {};
  const code = new Promise<number>((done) => {
    end = done;
  });
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const [name, number] of Object.entries(codes)) {
    let before = false;
    process.on(name, () => {
      if (before) process.exit(number);
      before = true;
      end(name === "SIGINT" ? 0 : number);
    });
  }
  return { code, end: (number) => end(number) };
}
