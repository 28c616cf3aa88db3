import { Role, type Task } from "@a2a-js/sdk";
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { onTestFinished } from "vitest";
import { type A2aServer, type A2aServerOptions, serveA2a } from "../../src/a2a/server.ts";
import type { Answer } from "../../src/core/plan/gate.ts";
import {
  type Agent,
  type Crew,
  type CrewOptions,
  createCrew,
  defineAgent,
  type Event,
  type Run,
} from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

type RemotePlace = NonNullable<Agent["remote"]>;

/** Defines a remote agent with this name, whose card is at this place. */
export const remoteAgent = (name: string, remote: RemotePlace, more: Partial<Agent> = {}): Agent =>
  defineAgent({ name, description: `${name}, elsewhere`, instructions: "", remote, ...more });

export const PATH = "/usr/local/bin:/usr/bin:/bin";

/** A crew that may contact these hosts on this machine and send tasks there. */
export function crewFor(hosts: readonly string[], options: CrewOptions = {}): Crew {
  return createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    discover: false,
    env: { PATH, HOME: tempFolder() },
    permissions: { allow: ["a2a"] },
    network: { allowHosts: hosts },
    ...options,
  });
}

/** Follows a run until its end, and answers its questions. */
export async function listen(run: Run, answer?: (question: string) => Answer | undefined): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    const said = event.type === "gate.opened" ? answer?.(event.question) : undefined;
    if (event.type === "gate.opened" && said) await run.answer(event.path, said, event.call);
  }
  await run;
  return events;
}

/** A subcrew server with these agents, closed when the test is over. */
export async function ourServer(
  crew: Crew,
  options: Partial<A2aServerOptions> = {},
): Promise<A2aServer & { host: string; token: string; card(name?: string): string }> {
  const server = await serveA2a(crew, { agents: ["worker"], ...options });
  onTestFinished(() => server.close());
  const token = Object.values(server.tokens)[0]!;
  return {
    ...server,
    host: new URL(server.url).host,
    token,
    card: (name = "worker") => `${server.url}/${name}/.well-known/agent-card.json`,
  };
}

/** A crew whose worker plays these model turns. */
export function workerCrew(turns: readonly Script[], options: CrewOptions = {}): Crew {
  return createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    discover: false,
    env: { PATH, HOME: tempFolder() },
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work." })],
    models: { m: scripted(...turns) },
    model: "m",
    ...options,
  });
}

/** The client of the official SDK for an agent of a subcrew server. */
export async function sdkClient(url: string, token: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(url, "");
}

/** A message of a person. */
export const message = (text: string, more: { contextId?: string; taskId?: string } = {}) => ({
  tenant: "",
  metadata: undefined,
  configuration: undefined,
  message: {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    ...more,
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "text/plain" },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
});

/** The artifacts of a task as text. */
export const textOf = (task: Task): string =>
  task.artifacts
    .flatMap(({ parts }) => parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : [])))
    .join("\n");
