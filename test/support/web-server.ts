import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { onTestFinished } from "vitest";
import { certificate } from "./certificate.ts";

/** A real server on this machine, closed when the test is over. */
export type WebServer = Readonly<{
  port: number;
  /** `127.0.0.1:port`, as it is written in an allow list. */
  host: string;
  url(path?: string): string;
  /** The number of connections. */
  connections(): number;
  requests: readonly Asked[];
}>;

export type Asked = Readonly<{ method: string; url: string; headers: IncomingMessage["headers"]; body: string }>;

/** The response of a path: a text, or a function that answers. */
export type Routes = Readonly<Record<string, string | ((request: IncomingMessage, response: ServerResponse) => void)>>;

export function webServer(routes: Routes, { address = "127.0.0.1" } = {}): Promise<WebServer> {
  const requests: Asked[] = [];
  return listening(createServer(listener(routes, requests)), { address, requests, scheme: "http" });
}

/** A web server like `webServer`, but over TLS, with its own certificate for `secure.test`. */
export async function secureServer(routes: Routes): Promise<WebServer & Readonly<{ ca: string }>> {
  const { key, cert: ca } = certificate();
  const requests: Asked[] = [];
  const server = createSecureServer({ key, cert: ca }, listener(routes, requests));
  return { ...(await listening(server, { address: "127.0.0.1", requests, scheme: "https" })), ca };
}

function listener(routes: Routes, requests: Asked[]): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const url = request.url ?? "/";
      requests.push({
        method: request.method ?? "",
        url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      const route = routes[url] ?? routes[url.split("?")[0]!] ?? routes["*"];
      if (route === undefined) response.writeHead(404).end("nothing here");
      else if (typeof route === "string") response.writeHead(200, { "content-type": "text/plain" }).end(route);
      else route(request, response);
    });
  };
}

type Listening = Readonly<{ address: string; requests: readonly Asked[]; scheme: string }>;

async function listening(
  server: Server & { closeAllConnections(): void },
  { address, requests, scheme }: Listening,
): Promise<WebServer> {
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, address, resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const host = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  return { port, host, url: (path = "/") => `${scheme}://${host}${path}`, connections: () => connections, requests };
}
