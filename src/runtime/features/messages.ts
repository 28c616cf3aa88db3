import { pauseReason } from "../async/cancel.ts";
import type { Mailbox } from "../execute/mailbox.ts";
import { postMessage } from "../execute/send-message.ts";
import type { Feature } from "./feature.ts";

export const messagesFeature: Feature = {
  name: "messages",
  does: "delivers messages from a person or another process to running tasks",
  open: ({ emit, log, signal }) => {
    let mailbox: Mailbox | undefined;
    return {
      scope: (inner) => {
        mailbox = inner.mailbox;
        return {};
      },
      commands: {
        send: async (path, note) => {
          if (path === "" || !mailbox || pauseReason(signal) !== undefined) return false;
          if (!postMessage({ mailbox, emit }, path, note)) return false;
          await log.durable();
          return true;
        },
      },
    };
  },
};
