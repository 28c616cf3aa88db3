import net, { type Socket } from "node:net";
import tls, { type ConnectionOptions } from "node:tls";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { SilentError } from "./silent-error.ts";
import { openTunnel } from "./tunnel.ts";

/** The other end of connections: a host and port, with TLS or without, perhaps through a tunnel of a proxy. */
export type ConnectionTarget = Readonly<{
  host: string;
  port: number;
  isSecure: boolean;
  /** A proxy that opens a tunnel to the host. */
  tunnel?: URL;
  /** The accepted certificate authorities; absent: the usual ones. */
  ca?: readonly string[];
}>;

/** The request that uses a connection: it is notified about data, silence and the end of the connection. */
export type ConnectionUser = Readonly<{
  onData(bytes: Buffer): void;
  /** Called when nothing arrived for as long as the request allows. */
  onSilence(): void;
  /** Called when the connection has ended, with an error if there was one. */
  onClose(error: Error | undefined): void;
}>;

/** A connection. One request uses it at a time. */
export type HttpConnection = Readonly<{
  socket: Socket;
  /** True if the connection carried a request before; then the provider may have closed it already. */
  isReused: boolean;
  /** Passes what arrives on the connection to a request. */
  use(user: ConnectionUser): void;
  /** Keeps the connection for the next request, at most for this time. */
  release(idleMs: number): void;
}>;

export type ConnectionWish = Readonly<{
  /** The longest time in which nothing may arrive, in milliseconds. */
  silenceMs: number;
  signal: AbortSignal;
  /** True: opens a new connection even if there is an idle connection. */
  fresh?: boolean;
}>;

/**
 * Connections to one address. An idle connection is used again, starting with the most recently used. All connections
 * are kept for a while: of a thousand agents whose turns end together, most would otherwise have to connect again for
 * each turn.
 */
export function createConnections(
  target: ConnectionTarget,
): (options: ConnectionWish) => HttpConnection | Promise<HttpConnection> {
  const idle: IdleConnection[] = [];
  let session: Buffer | undefined;
  /**
   * Closes connections that were idle for too long. One timer serves all connections: a timer for each would have to be
   * set in every turn.
   */
  let sweeping: NodeJS.Timeout | undefined;
  const sweep = (): void => {
    for (const { socket, until } of idle) if (until <= performance.now()) socket.destroy();
    if (idle.length > 0) return;
    clearInterval(sweeping);
    sweeping = undefined;
  };

  const open = async (options: ConnectionWish): Promise<HttpConnection> => {
    const socket = await connect(target, options, session);
    if (target.isSecure) socket.on("session", (ticket: Buffer) => (session = ticket));
    return keep(socket);
  };

  const keep = (socket: Socket): HttpConnection => {
    let user: ConnectionUser | undefined;
    let failure: Error | undefined;
    const use = (next: ConnectionUser): void => {
      user = next;
      if (socket.destroyed) return queueMicrotask(() => next.onClose(failure));
      socket.ref();
      if (socket.isPaused()) socket.resume(); // the reader of the last response was slow, so the socket was paused
    };
    const release = (idleMs: number): void => {
      user = undefined;
      socket.unref();
      waiting.until = performance.now() + idleMs;
      idle.push(waiting);
      sweeping ??= setInterval(sweep, SWEEP_MS).unref();
    };
    const waiting: IdleConnection = { socket, until: 0, again: { socket, isReused: true, use, release } };
    socket.on("data", (bytes: Buffer) => (user ? user.onData(bytes) : void socket.destroy()));
    socket.on("timeout", () => user?.onSilence());
    socket.on("error", (error) => {
      failure = error;
    });
    socket.on("close", () => {
      user?.onClose(failure);
      const at = idle.indexOf(waiting);
      if (at !== -1) idle.splice(at, 1);
    });
    return { socket, isReused: false, use, release };
  };

  return (options) => {
    while (options.fresh !== true) {
      const last = idle.pop();
      if (!last) break;
      if (last.until <= performance.now()) last.socket.destroy();
      else if (!last.socket.destroyed && last.socket.writable) return last.again;
    }
    return open(options);
  };
}

/** `until`: the time after which the connection is not used again. */
type IdleConnection = { readonly socket: Socket; readonly again: HttpConnection; until: number };

/** How often idle connections are checked. */
const SWEEP_MS = 5_000;

/**
 * Options of every connection: small requests are sent at once, and the system notices when the provider has
 * disappeared.
 */
const usual = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 1_000 };

/** A connected socket. With TLS, its certificate is verified before any key is sent. */
async function connect(
  { host, port, isSecure, tunnel, ca }: ConnectionTarget,
  { silenceMs, signal }: ConnectionWish,
  session: Buffer | undefined,
): Promise<Socket> {
  const trust: ConnectionOptions = {
    ...(net.isIP(host) === 0 && { servername: host }),
    ...(ca && { ca: [...ca] }),
    ...(session && { session }),
    ALPNProtocols: ["http/1.1"],
  };
  const pipe = tunnel && (await openTunnel(tunnel, { host, port, signal, ...(ca && { ca }) }));
  signal.throwIfAborted();
  const socket = isSecure
    ? tls.connect({ ...usual, host, port, ...trust, ...(pipe && { socket: pipe }) })
    : net.connect({ ...usual, host, port });
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => void socket.destroy(new Error("aborted")));
    const ready = isSecure ? "secureConnect" : "connect";
    const silent = (): void => void socket.destroy(new SilentError(silenceMs));
    const end = (): void => {
      stop();
      socket.off(ready, begin).off("error", fail).off("close", closed).off("timeout", silent); // removes the listeners of connecting; the idle timeout stays
    };
    const fail = (error: Error): void => {
      end();
      socket.on("error", () => {}); // a failed connection may report more than one error
      reject(error);
    };
    const closed = (): void => fail(new Error("the connection was closed at once"));
    const begin = (): void => {
      end();
      resolve(socket);
    };
    socket.setTimeout(silenceMs);
    socket.on(ready, begin).on("error", fail).on("close", closed).on("timeout", silent);
  });
}
