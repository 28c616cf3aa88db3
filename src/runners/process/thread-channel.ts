import type { MessagePort, Worker } from "node:worker_threads";
import { type Channel, isMessage } from "../../runtime/channel/protocol.ts";
import { DEEPEST_RECORD, parseJson } from "../../core/text/json.ts";

/**
 * Messages between threads. The parent learns of the end of a thread by the event `exit`, the thread of the end of its
 * parent by `close`.
 */
export function portChannel<In, Out>(port: MessagePort | Worker): Channel<In, Out> {
  return {
    // Messages are JSON, as over a pipe, so undefined values and functions are dropped.
    send: (message) => port.postMessage(JSON.stringify(message)),
    listen: (receive, gone) => {
      port.on("message", (text: unknown) => {
        const message: unknown = parseJson(String(text), DEEPEST_RECORD);
        if (isMessage(message)) receive(message as In);
      });
      port.once("close", gone);
      port.once("exit", gone);
    },
    close: async () => {
      if ("close" in port) port.close();
    },
  };
}
