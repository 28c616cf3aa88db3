import { resolve } from "node:path";
import { jsonText } from "../../core/text/json-text.ts";
import { announcementOf } from "../../crew/engine/announcement.ts";
import { jobPerformer } from "../../crew/engine/serve-jobs.ts";
import { connectWorker } from "../../crew/outfit/open-runs.ts";
import { engineAt } from "../../engines/table.ts";
import { startTimer } from "../../runtime/async/long-timer.ts";
import type { Flags } from "../base/flags.ts";
import { permissionsIn } from "../base/permission-flags.ts";
import { crewFor } from "../launch/start.ts";
import { engineUrl } from "./named-engine.ts";
import { takeOverDead } from "./take-over.ts";

/** `subcrew worker`: executes tasks until a signal arrives or the worker is drained. */
export async function serveWorker(flags: Flags): Promise<number> {
  const url = await engineUrl(flags);
  const crew = await crewFor(flags);
  const { slots = 8, poll = 100, grace = 30_000, quiet = false, scratch = false, coordinate = true } = flags;
  const { fetch = false, shared = false } = flags;
  const folders = (flags.workspaces ?? [crew.cwd]).map((folder) => resolve(folder));
  const setup = crew.setupFor({ engine: url, permissions: permissionsIn(flags) });
  const places = { folders, scratch, fetch, shared, slots, protocols: (await engineAt(url).load()).protocols };
  const announcement = await announcementOf(setup, places);
  const connection = await connectWorker(
    { ...setup, engine: url },
    {
      role: coordinate ? "work, coordinate" : "work",
      announcement,
    },
  );
  const told = nextEnd();
  const worker = await connection.startWorker({
    announcement,
    pollMs: poll,
    perform: jobPerformer(setup, { ...places, runners: announcement.runners }, { connection }),
  });
  worker.onDrain(() => told.end(0));
  const over = new AbortController();
  const say = (line: string): void => void (quiet || process.stderr.write(`${line}\n`));
  void connection.warning().then(
    (text) => text === undefined || say(`warn    ${text}`),
    () => {},
  );
  const reaping = takeOverDead({ connection, coordinate, say, signal: over.signal });
  if (flags.json) process.stdout.write(`${jsonText({ worker: worker.id, class: worker.class, ...announcement })}\n`);
  else if (!quiet)
    process.stderr.write(
      `${worker.id} takes tasks: ${slots} at once, in ${folders.join(", ")}${scratch ? " and empty folders" : ""}; providers: ${announcement.providers.join(", ") || "none"}.\nCtrl-C finishes the tasks or returns them to the queue, and ends the worker.\n`,
    );
  const code = await told.code;
  over.abort();
  const ends = async (): Promise<true> => {
    await reaping;
    if (!quiet && !flags.json) process.stderr.write(`ending: ${worker.working().length} tasks to finish or return\n`);
    await worker.drain(grace);
    await connection.close();
    return true;
  };
  if (!(await within(ends(), grace + LATEST_MS)))
    say(
      "warn    The database does not answer, so the worker ends without returning its tasks. Other workers take them.",
    );
  return code;
}

/** The time after the grace period at which the worker ends, even if the database does not answer. */
const LATEST_MS = 5_000;

/** Waits for work, at most for the given time; after that time the result is `undefined`. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let clear = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    clear = startTimer(() => resolve(undefined), ms);
  });
  return Promise.race([work, late]).finally(clear);
}

/** Resolves with an exit code on a signal, or when `end` is called. A second signal exits at once. */
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
