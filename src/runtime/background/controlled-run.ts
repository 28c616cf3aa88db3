import { type Driver, Run } from "../run/run.ts";
import { serveCommands, serveRest } from "./command-queue.ts";
import { handleCommand } from "./handle-command.ts";

/** A run that handles commands from its folder while this process owns it. */
export function servedRun(id: string, folder: string | undefined, driver: Driver): Run {
  const run: Run = new Run(id, async (it) => {
    const over = new AbortController();
    let serving: Promise<void> | undefined;
    try {
      await driver({
        ...it,
        connect: (connection) => {
          it.connect(connection);
          // The run continues even if commands cannot be received.
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
