import type { HandleCommand } from "../../core/run/run-store.ts";
import { stopped } from "../async/cancel.ts";
import { handleCommand } from "../background/handle-command.ts";
import type { Feature } from "./feature.ts";

export const inboxFeature: Feature = {
  name: "inbox",
  does: "carries out the commands that other processes send to the run",
  open: async ({ id, self, state, store, resume }) => {
    if (!store) return {};
    const saved = resume ? (await store.waiting(id)).filter((command) => command.do === "answer") : [];
    const handle: HandleCommand = (command, signal) => handleCommand(self, command, signal);
    const over = new AbortController();
    let serving: Promise<void> | undefined;
    const serveRest = async (): Promise<void> => {
      over.abort(stopped("the run has ended"));
      await serving;
      if (serving && state.endedAt !== undefined) await store.serve(id, handle, over.signal).catch(() => {});
    };
    return {
      scope: () => ({
        hasSavedAnswer: (path, call) =>
          saved.some((answer) => answer.path === path && (call === undefined || answer.call === call)),
      }),
      executing: () => {
        // The run continues even if commands cannot be received.
        serving = store.serve(id, handle, over.signal).catch(() => {});
      },
      close: serveRest, // before the ownership ends: senders expect no receipts from a run without an owner
      closed: serveRest, // commands that arrived after the end of the run get a receipt, too
    };
  },
};
