import { onAbort } from "../../runtime/async/on-abort.ts";
import type { HttpConnection, ConnectionUser } from "./connections.ts";
import type { ResponseHead } from "./response-head.ts";
import { type ResponseListener, ResponseParser } from "./response-parser.ts";
import { SilentError } from "./silent-error.ts";
import { TextPieces } from "./text-pieces.ts";

/** The response of a provider, whose body may still be arriving. */
export type ProviderAnswer = ResponseHead &
  Readonly<{
    /** The body as text, as it arrives. It can be read once. */
    body: AsyncIterable<string>;
    /** Closes the connection if the body has not arrived completely. */
    discard(): void;
  }>;

/** How long an unused connection is kept. */
const KEPT_MS = 60_000;

type Waiting = Readonly<{ resolve(answer: ProviderAnswer): void; reject(error: Error): void }>;

/** One request and its response on a connection. */
export class Exchange implements ConnectionUser, ResponseListener, ProviderAnswer {
  readonly #connection: HttpConnection;
  readonly #silenceMs: number;
  readonly #parser = new ResponseParser(this);
  readonly #stop: () => void;
  readonly body: TextPieces;
  status = 0;
  headers: ResponseHead["headers"] = {};
  #waiting: Waiting | undefined;
  #hasBytes = false;
  #isOver = false;

  readonly #signal: AbortSignal;

  constructor(connection: HttpConnection, { silenceMs, signal }: Readonly<{ silenceMs: number; signal: AbortSignal }>) {
    this.#connection = connection;
    this.#silenceMs = silenceMs;
    this.body = new TextPieces(connection.socket);
    this.#signal = signal;
    this.#stop = onAbort(signal, () => this.discard());
  }

  /**
   * Sends the request. Resolves when the head of the response has arrived. A request of ASCII characters is sent as
   * `latin1`, which Node copies instead of encoding it.
   */
  send(request: string, encoding: "latin1" | "utf8"): Promise<ProviderAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#signal.aborted) return this.discard();
      this.#connection.use(this);
      this.#connection.socket.write(request, encoding);
    });
  }

  discard(): void {
    if (!this.#isOver) this.#fail(new Error("aborted"));
  }

  onData(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#hasBytes = true;
    this.#attempt(() => this.#parser.push(bytes));
  }

  onSilence(): void {
    this.#fail(new SilentError(this.#silenceMs));
  }

  onClose(error: NodeJS.ErrnoException | undefined): void {
    if (!this.#hasBytes && this.#connection.isReused && isStale(error)) this.#fail(new StaleError());
    else if (error) this.#fail(error);
    else if (!this.#hasBytes) this.#fail(new ClosedError("the connection was closed without an answer"));
    else this.#attempt(() => this.#parser.close());
  }

  onHead({ status, headers }: ResponseHead): void {
    this.status = status;
    this.headers = headers;
    this.#waiting?.resolve(this);
    this.#waiting = undefined;
  }

  onText(piece: string): void {
    this.body.push(piece);
  }

  onEnd(isReusable: boolean): void {
    if (this.#isOver) return;
    this.#finish();
    const { socket } = this.#connection;
    const idleMs = keptFor(this.headers["keep-alive"]);
    // If the response was complete before the request was sent completely, the connection cannot be used again.
    if (isReusable && idleMs > 0 && socket.writableLength === 0) this.#connection.release(idleMs);
    else socket.destroy();
  }

  #attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#finish(error);
    this.#connection.socket.destroy();
  }

  #finish(error?: Error): void {
    this.#isOver = true;
    this.#stop();
    if (error) this.#waiting?.reject(error);
    this.#waiting = undefined;
    this.body.end(error);
  }
}

/**
 * How long to keep a connection: a second less than the time that the provider announces, so that it is rarely closed
 * while it is used.
 */
function keptFor(header: string | undefined): number {
  const seconds = header === undefined ? undefined : /\btimeout=(\d+)/i.exec(header)?.[1];
  return seconds === undefined ? KEPT_MS : Math.min(KEPT_MS, (Number(seconds) - 1) * 1_000);
}

/** Thrown when the connection was closed before anything arrived. */
class ClosedError extends Error {
  readonly code = "ECONNRESET";
}

/** Thrown when the provider had closed an idle connection that was used again. */
export class StaleError extends Error {}

function isStale(error: NodeJS.ErrnoException | undefined): boolean {
  return error === undefined || error.code === "ECONNRESET" || error.code === "EPIPE";
}
