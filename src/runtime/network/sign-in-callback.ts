import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { reasonOf } from "../async/cancel.ts";
import { isPlainRequest } from "./loopback-server.ts";
import { type Deferred, deferred } from "../async/deferred.ts";

/** Options of waiting for a sign-in in the browser. */
export type CallbackOptions = Readonly<{
  /** The port to listen on; 0 for a free port. */
  port: number;
  /** Host name in the redirect address, which must match the registered host name exactly. */
  host?: "127.0.0.1" | "localhost";
  /** The `state` value that the browser must return, so that a code of another sign-in is rejected. */
  state: string;
  signal: AbortSignal;
  patienceMs?: number;
  /** Called with the redirect URL once the server listens. */
  ready(redirect: string): void | Promise<void>;
  /**
   * Lets a person paste the URL at which the browser ended, if the browser runs on another machine. It is called with a
   * function that receives the pasted text, and returns a function that stops it.
   */
  pasted?(take: (text: string) => void): () => void;
}>;

/** The parameters that the browser delivers; `issuer` if the provider sends it. */
export type SignInAnswer = Readonly<{ code: string; redirect: string; issuer?: string }>;

/** Why a sign-in gave no authorization code. */
export type SignInProblem = "PORT" | "REFUSED" | "UNFINISHED";

/** The problem of an error that `waitForCode` threw. */
export function signInProblem(error: unknown): SignInProblem | undefined {
  return error instanceof Error && error.name === "SignIn" && "problem" in error
    ? (error.problem as SignInProblem)
    : undefined;
}

const PATIENCE_MS = 5 * 60_000;
const PATH = "/callback";

/** Listens on this machine until the browser delivers the authorization code, once. */
export async function waitForCode({
  port,
  host = "127.0.0.1",
  state,
  signal,
  patienceMs = PATIENCE_MS,
  ready,
  pasted,
}: CallbackOptions): Promise<SignInAnswer> {
  const answer = deferred<Omit<SignInAnswer, "redirect">>();
  answer.promise.catch(() => {}); // the callback may arrive before this promise is awaited
  const expected: Expected = { state, answer, isOver: false };
  const server = createServer((request, response) => receive(request, response, expected));
  const give = (why: string): void => answer.reject(signInError("UNFINISHED", `the sign-in was not finished: ${why}`));
  const stop = (): void => give(reasonOf(signal));
  const timer = setTimeout(() => give(`the sign-in was not completed within ${spoken(patienceMs)}`), patienceMs);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  let unpaste: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => reject(signInError("PORT", `cannot listen on port ${port}: ${error.message}`)));
      server.listen(port, "127.0.0.1", resolve);
    });
    const redirect = `http://${host}:${(server.address() as AddressInfo).port}${PATH}`;
    unpaste = pasted?.((text) => take(text.trim(), expected));
    const [came] = await Promise.all([answer.promise, ready(redirect)]);
    return { ...came, redirect };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    unpaste?.();
    server.close();
    server.closeAllConnections();
  }
}

type Expected = Readonly<{ state: string; answer: Deferred<Omit<SignInAnswer, "redirect">> }> & { isOver: boolean };

function receive(request: IncomingMessage, response: ServerResponse, expected: Expected): void {
  const { url = "/", method } = request;
  const settle = method === "GET" && isForUs(request) ? settlement(url, expected) : undefined;
  if (!settle) return void response.writeHead(404, PLAIN).end("Not found.\n");
  response.once("close", settle); // the code is accepted even if the browser has already disconnected
  response.writeHead(200, PLAIN).end("You can close this window and go back to the terminal.\n", settle);
}

/**
 * Checks the host name: the user's browser uses the redirect address, while a page of another site that found the port
 * uses its own name.
 */
function isForUs(request: IncomingMessage): boolean {
  const { port } = request.socket.address() as AddressInfo;
  const names = [`127.0.0.1:${port}`, `localhost:${port}`, ...(port === 80 ? ["127.0.0.1", "localhost"] : [])];
  return isPlainRequest(request) && names.includes((request.headers.host ?? "").toLowerCase());
}

function take(text: string, expected: Expected): void {
  if (URL.canParse(text)) settlement(text, expected)?.();
}

/** The result of a request to the callback address; `undefined` for a request that does not belong to this sign-in. */
function settlement(url: string, expected: Expected): (() => void) | undefined {
  if (!URL.canParse(url, "http://127.0.0.1")) return undefined;
  const at = new URL(url, "http://127.0.0.1");
  const params = at.searchParams;
  if (expected.isOver || at.pathname !== PATH || params.get("state") !== expected.state) return undefined;
  expected.isOver = true;
  const [code, issuer] = [params.get("code"), params.get("iss")];
  if (code) return () => expected.answer.resolve({ code, ...(issuer !== null && { issuer }) });
  const why = (params.get("error") ?? "the server returned no authorization code")
    .replace(/[^\x20-\x7e]/g, "")
    .slice(0, 100);
  return () => expected.answer.reject(signInError("REFUSED", `the sign-in was refused: ${why}`));
}

const signInError = (problem: SignInProblem, message: string): Error =>
  Object.assign(new Error(message), { name: "SignIn", problem });

const spoken = (ms: number): string => (ms >= 60_000 ? `${Math.round(ms / 60_000)} minutes` : `${ms / 1_000} s`);

const PLAIN = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", connection: "close" };
