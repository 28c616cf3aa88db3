import { type WebServer, webServer } from "../support/web-server.ts";

type Sent = Readonly<{ contextId?: string; taskId?: string; parts: readonly { text?: string }[] }>;
export type RpcServer = WebServer &
  Readonly<{
    cardUrl: string;
    /** Every received message. */
    sent(): Sent[];
  }>;

/**
 * A server of the old version of the protocol (0.3) that answers messages with these answers in turn, and then with
 * errors.
 */
export async function rpcServer(
  answers: readonly object[],
  card: () => object = () => ({}),
  error = "no more answers",
): Promise<RpcServer> {
  const server = await webServer({
    "/card.json": (_, response) => {
      const about = {
        protocolVersion: "0.3.0",
        name: "old",
        description: "old",
        version: "1",
        url: server.url("/rpc"),
        preferredTransport: "JSONRPC",
      };
      const rest = { capabilities: {}, skills: [], defaultInputModes: ["text"], defaultOutputModes: ["text"] };
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ ...about, ...rest, ...card() }));
    },
    "/rpc": (_, response) => {
      const { id } = JSON.parse(server.requests.at(-1)!.body) as { id: unknown };
      const result = answers[sent().length - 1];
      response.writeHead(200, { "content-type": "application/json" }).end(
        JSON.stringify({
          jsonrpc: "2.0",
          id,
          ...(result ? { result } : { error: { code: -32603, message: error } }),
        }),
      );
    },
  });
  const sent = (): Sent[] =>
    server.requests.flatMap(({ url, body }) =>
      url === "/rpc" ? [(JSON.parse(body) as { params: { message: Sent } }).params.message] : [],
    );
  return { ...server, cardUrl: server.url("/card.json"), sent };
}
