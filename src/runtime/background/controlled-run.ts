import { type Driver, Run } from "../run/run.ts";
import { serveCommands, serveRest } from "./command-queue.ts";
import { handleCommand } from "./handle-command.ts";

/** A run that also obeys what is put into its folder, from the moment it is ours until it has ended. */
export function servedRun(id: string, folder: string | undefined, driver: Driver): Run {
  const run: Run = new Run(id, async (it) => {
    const over = new AbortController();
    let serving: Promise<void> | undefined;
    try {
      await driver({
        ...it,
        connect: (connection) => {
          it.connect(connection);
          // What cannot be heard from outside is no reason for the work to stop.
          if (folder !== undefined)
            serving = serveCommands(
              folder,
              (command, signal) => handleCommand(run, command, signal),
              over.signal,
            ).catch(() => {});
        },
      });
    } finally {
      over.abort();
      await serving;
      if (folder !== undefined && serving && it.state.endedAt !== undefined)
        await serveRest(folder, (command, signal) => handleCommand(run, command, signal)).catch(() => {});
    }
  });
  return run;
}
