import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { reasonOf } from "../runtime/cancel.ts";
import { deferred } from "../runtime/deferred.ts";
import { remoteFailure } from "./a2a-fault.ts";

/** What a sign-in in the browser is waited for with. */
export type Waiting = Readonly<{
  port: number;
  /** What the browser has to bring back unchanged: nobody else can hand us a code. */
  state: string;
  signal: AbortSignal;
  /** Told the address that the browser comes back to, once somebody listens there. */
  ready(redirect: string): void;
}>;

const PATIENCE_MS = 5 * 60_000;

/** Listens on this machine until the browser brings the code of a sign-in. */
export async function waitForCode({
  port,
  state,
  signal,
  ready,
}: Waiting): Promise<{ code: string; redirect: string }> {
  const code = deferred<string>();
  const server = createServer((request, response) => answer(request, response, { state, code }));
  const give = (why: string): void =>
    code.reject(remoteFailure("REMOTE_AUTH", `the sign-in was not finished: ${why}`, "Run it again and sign in."));
  const stop = (): void => give(reasonOf(signal));
  const timer = setTimeout(() => give("nobody came back within five minutes"), PATIENCE_MS);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) =>
        reject(
          remoteFailure(
            "REMOTE_AUTH",
            `port ${port} cannot be listened on: ${error.message}`,
            "Choose another redirect_port.",
          ),
        ),
      );
      server.listen(port, "127.0.0.1", resolve);
    });
    const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    ready(redirect);
    return { code: await code.promise, redirect };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    code.promise.catch(() => {});
    server.close();
    server.closeAllConnections();
  }
}

type Expected = Readonly<{ state: string; code: { resolve(code: string): void; reject(error: unknown): void } }>;

function answer({ url = "/", method }: IncomingMessage, response: ServerResponse, { state, code }: Expected): void {
  const at = new URL(url, "http://127.0.0.1");
  const params = at.searchParams;
  if (method !== "GET" || at.pathname !== "/callback" || params.get("state") !== state)
    return void response.writeHead(404, PLAIN).end("There is nothing here.\n");
  const found = params.get("code");
  response.writeHead(200, PLAIN).end("You can close this window and go back to the terminal.\n", () => {
    if (found) code.resolve(found);
    else
      code.reject(
        remoteFailure(
          "REMOTE_AUTH",
          `the sign-in was refused: ${params.get("error") ?? "no code came back"}`,
          "Try it again.",
        ),
      );
  });
}

const PLAIN = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", connection: "close" };
