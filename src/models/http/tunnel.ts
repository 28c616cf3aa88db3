import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { onAbort } from "../../runtime/async/on-abort.ts";

/** How long a proxy may take to open a tunnel. */
const OPEN_MS = 30_000;

/** The proxy login from the proxy's URL, as a header. */
export function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === "") return {};
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` };
}

export type TunnelOptions = Readonly<{ host: string; port: number; signal: AbortSignal; ca?: readonly string[] }>;

/** Asks a proxy with CONNECT for a connection to a host. TLS through it is between subcrew and the host. */
export function openTunnel(proxy: URL, { host, port, signal, ca }: TunnelOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    const asked = (proxy.protocol === "https:" ? https : http).request({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...proxyHeaders(proxy) },
      agent: false,
      ...(ca && { ca: [...ca] }),
      timeout: OPEN_MS,
    });
    const stop = onAbort(signal, () => void asked.destroy(new Error("aborted")));
    asked.once("close", stop);
    asked.once("connect", ({ statusCode = 0 }, socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`the proxy ${proxy.host} answered ${statusCode}`));
    });
    asked.once("response", ({ statusCode = 0 }) => {
      asked.destroy();
      reject(new Error(`the proxy ${proxy.host} answered ${statusCode}`));
    });
    asked.once("timeout", () => asked.destroy(new Error(`the proxy ${proxy.host} does not answer`)));
    asked.on("error", (error) => reject(new Error(`the proxy ${proxy.host} cannot be used: ${error.message}`)));
    asked.end();
  });
}
