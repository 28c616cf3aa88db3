import type { HandleCommand, RunStore } from "../../core/run/run-store.ts";
import { stopped } from "../async/cancel.ts";
import { type Driver, Run, type RunExtras } from "../run/run.ts";
import { handleCommand } from "./handle-command.ts";

/** A run that handles the commands sent through its store while this process owns it. */
export function servedRun(id: string, store: RunStore, driver: Driver, extras: RunExtras = {}): Run {
  const handle: HandleCommand = (command, signal) => handleCommand(run, command, signal);
  const served: Driver = async (it) => {
    const over = new AbortController();
    let serving: Promise<void> | undefined;
    const serveRest = async (): Promise<void> => {
      over.abort(stopped("the run has ended"));
      await serving;
      if (serving && it.state.endedAt !== undefined) await store.serve(id, handle, over.signal).catch(() => {});
    };
    try {
      await driver({
        ...it,
        // Called before the process gives up the ownership of the run: senders of commands expect no receipts from a
        // run without an owner.
        settle: serveRest,
        connect: (connection) => {
          it.connect(connection);
          // The run continues even if commands cannot be received.
          serving = store.serve(id, handle, over.signal).catch(() => {});
        },
      });
    } finally {
      await serveRest(); // commands that arrived after the end of the run get a receipt, too
    }
  };
  const run: Run = new Run(id, served, extras);
  return run;
}
