import type { RemoteCard as RemotePlace } from "../../core/agent/agent.ts";
import {
  foldRemote,
  nextIds,
  type RemoteAnswer,
  type RemoteIds,
  type RemoteTask,
  type RemoteUpdate,
} from "../../core/net/a2a.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { createRemoteClients, type RemoteClients, remoteTokens } from "../../runners/a2a/a2a-clients.ts";
import { remoteFault } from "../../runners/a2a/a2a-fault.ts";
import type { RemoteAgentCard, RemoteClient } from "../../runners/a2a/a2a-sdk.ts";
import { asFetch } from "../../runtime/network/guarded-fetch-for-libraries.ts";
import { createGuardedOpen, type GuardedOpen, type NetworkRules } from "../../runtime/network/guarded-request.ts";

export type A2AClientOptions = Readonly<{
  /** The environment in which `$NAME` in the `auth` of an agent is looked up. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The folder in which commands run that print secrets for `auth`. */
  cwd?: string;
  /** Addresses that may be reached besides the public internet. */
  network?: NetworkRules;
  /** The folder in which tokens are stored between processes; absent: they are not stored. */
  home?: string;
}>;

/** One conversation with a remote agent. Each has its own ids, so that two conversations never mix. */
export type RemoteConversation = Readonly<{
  ids(): RemoteIds;
  /** Sends a message and waits for the answer; a failure is returned as text, never thrown. */
  send(text: string, signal?: AbortSignal): Promise<RemoteAnswer | Readonly<{ kind: "error"; text: string }>>;
}>;

/**
 * Gemini CLI's client manager: remote agents by name, each with one client. It does not ask a person for approval; the
 * code that creates it decides what is sent.
 */
export class A2AClientManager {
  readonly #clients: RemoteClients;
  readonly #open: GuardedOpen;
  readonly #loaded = new Map<string, Promise<RemoteClient>>();

  constructor({ env = {}, cwd = "/", network, home }: A2AClientOptions = {}) {
    this.#open = createGuardedOpen(network);
    this.#clients = createRemoteClients({ env, cwd, ...(home !== undefined && { tokens: remoteTokens(home) }) });
  }

  /** Fetches the card of an agent and creates its client; both are done only once. */
  async loadAgent(name: string, place: string | RemotePlace, signal: AbortSignal = NEVER): Promise<RemoteAgentCard> {
    if (this.#loaded.has(name))
      throw new CrewError(
        "BAD_INPUT",
        `Agent with name '${name}' is already loaded.`,
        "Use another name, or clear the cache first.",
      );
    const client = this.#clients.open(typeof place === "string" ? { cardUrl: place } : place, {
      fetch: asFetch(this.#open),
      signal,
    });
    this.#loaded.set(name, client);
    client.catch(() => this.#loaded.delete(name));
    return (await client).card;
  }

  /** The card of a loaded agent. */
  async getAgentCard(name: string): Promise<RemoteAgentCard | undefined> {
    return (await this.#loaded.get(name))?.card;
  }

  /** Sends a message and streams the answer. */
  async *sendMessageStream(
    name: string,
    text: string,
    ids: RemoteIds = {},
    signal: AbortSignal = NEVER,
  ): AsyncGenerator<RemoteUpdate, void> {
    yield* (await this.#client(name)).send({ ...ids, messageId: crypto.randomUUID(), text }, signal);
  }

  /** Sends a message and waits for the whole answer. */
  async sendMessage(
    name: string,
    text: string,
    ids: RemoteIds = {},
    signal: AbortSignal = NEVER,
  ): Promise<RemoteAnswer> {
    let answer: RemoteAnswer | undefined;
    for await (const update of this.sendMessageStream(name, text, ids, signal)) answer = foldRemote(answer, update);
    if (!answer) throw new Error(`${name} returned no answer`);
    return answer;
  }

  async getTask(name: string, task: string, signal: AbortSignal = NEVER): Promise<RemoteTask> {
    return (await this.#client(name)).get(task, signal);
  }

  async cancelTask(name: string, task: string, signal: AbortSignal = NEVER): Promise<RemoteTask> {
    return (await this.#client(name)).cancel(task, signal);
  }

  /** Starts a new conversation with a remote agent. */
  conversation(name: string): RemoteConversation {
    let ids: RemoteIds = {};
    return {
      ids: () => ids,
      send: async (text, signal) => {
        try {
          const answer = await this.sendMessage(name, text, ids, signal);
          ids = nextIds(ids, answer);
          return answer;
        } catch (error) {
          return { kind: "error", text: remoteFault(error, { sent: false }).fault.message };
        }
      },
    };
  }

  /** Forgets every agent; each can be loaded again. */
  clearCache(): void {
    this.#loaded.clear();
    this.#clients.clear();
  }

  async #client(name: string): Promise<RemoteClient> {
    const client = this.#loaded.get(name);
    if (!client)
      throw new CrewError("UNKNOWN_AGENT", `Agent '${name}' is not loaded.`, "Load the agent first with loadAgent.");
    return client.catch((error: unknown) => {
      throw new Error(messageOf(error), { cause: error });
    });
  }
}

const NEVER = new AbortController().signal;
