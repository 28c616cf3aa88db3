import http from "node:http";
import https from "node:https";
import tls, { type ConnectionOptions } from "node:tls";

/** How long a proxy may take to open a tunnel. */
const OPEN_MS = 30_000;

/** The proxy login from the proxy's URL, as a header. */
export function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === "") return {};
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` };
}

/** Options of a TLS connection that trusts these authorities, or the usual ones. */
export const trusting = (ca: readonly string[] | undefined): { ca?: string[] } => (ca ? { ca: [...ca] } : {});

/**
 * Every connection is kept for the next request: of a thousand agents whose turns end together, most would otherwise connect anew
 * for each turn. An idle connection is closed after a while.
 */
export const keptOpen = { keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY, timeout: 60_000 };

/** Connects through a proxy with CONNECT; the TLS connection is end-to-end with the host. */
export function tunnelAgent(proxy: URL, ca?: readonly string[]): https.Agent {
  const agent = new https.Agent({ ...keptOpen, ...trusting(ca) });
  type Done = (error: Error | null, socket?: tls.TLSSocket) => void;
  const createConnection = (options: ConnectionOptions & { host: string; port: number }, done: Done): void => {
    const target = `${options.host}:${options.port}`;
    const asked = (proxy.protocol === "https:" ? https : http).request({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...proxyHeaders(proxy) },
      agent: false,
      ...trusting(ca),
      timeout: OPEN_MS,
    });
    asked.once("connect", ({ statusCode = 0 }, socket) => {
      if (statusCode === 200) return done(null, tls.connect({ ...options, socket, servername: options.host }));
      socket.destroy();
      done(new Error(`the proxy ${proxy.host} answered ${statusCode}`));
    });
    asked.once("response", ({ statusCode = 0 }) => {
      asked.destroy();
      done(new Error(`the proxy ${proxy.host} answered ${statusCode}`));
    });
    asked.once("timeout", () => asked.destroy(new Error(`the proxy ${proxy.host} does not answer`)));
    asked.once("error", (error) => done(new Error(`the proxy ${proxy.host} cannot be used: ${error.message}`)));
    asked.end();
  };
  return Object.assign(agent, { createConnection });
}
