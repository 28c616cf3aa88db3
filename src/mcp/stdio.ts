import type { Readable, Writable } from "node:stream";
import type { Crew } from "../crew/crew-type.ts";
import type { DelegationTools } from "./delegated.ts";
import { messageLines, MOST_MESSAGE_BYTES } from "../runtime/channel/message-lines.ts";
import { offersWith } from "./offers.ts";
import { ServerContext, type ServerContextOptions } from "./server-context.ts";
import { loadSdk } from "./sdk.ts";
import { createServer } from "./server.ts";
import { outlasting } from "./start/outlasting.ts";

export type StdioOptions = ServerContextOptions &
  Readonly<{
    input: Readable;
    output: Writable;
    /** Delegation tools to offer in addition to subcrew's own tools. */
    delegation?: DelegationTools;
    /** True when tools are listed with all fields of their arguments and results. */
    full?: boolean;
    /** True when agents of the crew cannot change anything, so that every tool is announced as read-only. */
    readOnly?: boolean;
    /** When this signal aborts, the server ends as if its client had disconnected. */
    signal: AbortSignal;
    onError(error: unknown): void;
  }>;

/**
 * Serves one client over a pair of streams until one of the streams ends. Only protocol messages are written to the
 * output. At the end, running runs are paused; they can be resumed.
 */
export async function serveStdio(
  crew: Crew,
  { input, output, delegation, full = false, readOnly = false, signal, onError, ...rules }: StdioOptions,
): Promise<void> {
  const sdk = await loadSdk();
  const office = new ServerContext(crew, rules);
  const serving = { sdk, office, offers: () => offersWith({ delegation, full, readOnly }), onError };
  const lasting = outlasting(messageLines(input, (line) => output.write(line)));
  const transport = new sdk.StdioServerTransport(lasting, output, { maxBufferSize: MOST_MESSAGE_BYTES });
  const handle = sdk.serveStdio(({ era }) => createServer(serving, era), { transport, onerror: onError });
  const gone = new Promise<void>((resolve) => {
    const inner = transport.onclose;
    const onclose = (): void => {
      inner?.call(transport);
      resolve();
    };
    Object.assign(transport, { onclose });
    lasting.once("end", resolve).once("close", resolve);
    output.once("close", resolve).once("error", () => resolve());
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await gone;
  await Promise.all([handle.close(), office.runs.close("the MCP client disconnected")]);
}
