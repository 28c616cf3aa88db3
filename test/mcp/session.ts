import { once } from "node:events";
import { PassThrough } from "node:stream";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { type Crew, type CrewOptions, createCrew, defineAgent } from "../../src/index.ts";
import { type StdioOptions, serveStdio } from "../../src/mcp/stdio.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** The two protocol versions of clients: the newest one, and that of most clients. */
export const eras = ["auto", "legacy"] as const;
export type EraMode = (typeof eras)[number];

/** A crew with one scripted agent per name. */
export function crewOf(scripts: Readonly<Record<string, readonly Script[]>>, more: CrewOptions = {}): Crew {
  const names = Object.keys(scripts);
  return createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    env: { PATH: "/usr/bin:/bin" },
    discover: false,
    agents: names.map((name) =>
      defineAgent({ name, description: `the agent ${name}`, instructions: "Work.", model: name }),
    ),
    models: Object.fromEntries(names.map((name) => [name, scripted(...scripts[name]!)])),
    ...more,
  });
}

export type Session = Readonly<{
  client: Client;
  /** All output of the server, line by line. */
  lines: string[];
  errors: unknown[];
  /** Settles when the server has ended. */
  served: Promise<void>;
  hangUp(): void;
  /** Sends a request without the library and returns its answer. */
  raw(request: object): Promise<Record<string, unknown>>;
}>;

/** A client of the official library, connected to our server by a pair of streams, as between two processes. */
export async function session(
  crew: Crew,
  mode: EraMode,
  { client: options = {}, ...rules }: { client?: ClientOptions } & Partial<StdioOptions> = {},
): Promise<Session> {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const errors: unknown[] = [];
  const lines: string[] = [];
  toClient.on("data", (chunk: Buffer) => lines.push(...chunk.toString().split("\n").filter(Boolean)));
  const served = serveStdio(crew, {
    input: toServer,
    output: toClient,
    signal: new AbortController().signal,
    onError: (error) => errors.push(error),
    ...rules,
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode }, ...options });
  // The transport of a server also works for a client: it reads one stream and writes the other.
  await client.connect(new StdioServerTransport(toClient, toServer));
  const raw: Session["raw"] = async (request) => {
    const id = `raw-${lines.length}-${Math.random()}`;
    toServer.write(`${JSON.stringify({ jsonrpc: "2.0", ...request, id })}\n`);
    const answer = (): string | undefined => lines.find((line) => line.includes(JSON.stringify(id)));
    while (answer() === undefined) await once(toClient, "data");
    return JSON.parse(answer()!) as Record<string, unknown>;
  };
  return { client, lines, errors, served, raw, hangUp: () => void toServer.end() };
}

export function agentOn(model: string) {
  return { name: model, description: model, instructions: "Work.", model };
}
