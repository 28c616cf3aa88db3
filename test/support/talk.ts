import { onTestFinished } from "vitest";
import type { Model, ModelEvent, ModelRequest } from "../../src/core/model/model.ts";
import type { ModelRegistryConfig } from "../../src/models/registry/model-config.ts";
import { createModelRegistry, type ModelRegistry } from "../../src/models/registry/registry.ts";
import {
  type ProviderScript,
  type ProviderServer,
  type ProviderServerOptions,
  startProviderServer,
} from "../../src/testing/provider-server.ts";

/** One model of each kind of provider, under names that the local server answers to. */
export const kinds = [
  ["anthropic", "anthropic/claude-haiku-4-5"],
  ["openai chat", "openai-chat/gpt-4o"],
  ["openai responses", "openai/gpt-5.2"],
  ["google", "google/gemini-2.5-flash"],
  ["compatible", "ollama/qwen3:8b"],
] as const;

/** A provider with these answers, for one test. */
export async function provider(script: ProviderScript, options: ProviderServerOptions = {}): Promise<ProviderServer> {
  const server = await startProviderServer(script, options);
  onTestFinished(() => server.close());
  return server;
}

/** The models of a user whose providers are all this server. */
export function registryAt(server: ProviderServer, more: ModelRegistryConfig = {}): ModelRegistry {
  return createModelRegistry({ env: server.env, random: () => 0, ...more });
}

/** The model of a name at this server, without retries unless they are requested. */
export async function modelAt(
  server: ProviderServer,
  name: string,
  { retry = false, ...more }: ModelRegistryConfig & { retry?: boolean } = {},
): Promise<Model> {
  const found = await registryAt(server, { default: name, ...more }).choose([{ by: "call", names: name }], {
    binding: "call",
    retry,
  });
  if ("misses" in found) throw new Error(JSON.stringify(found.misses));
  return (request, signal) => found.model({ ...request, model: found.id }, signal);
}

/** A complete request to a model; `more` replaces some of its fields. */
export function request(more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: "m",
    system: "Be brief.",
    messages: [{ role: "user", text: "hi" }],
    tools: [],
    toolChoice: "auto",
    ...more,
  };
}

export const look = {
  name: "look",
  description: "looks at a file",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
} as const;

/** All events of one turn. */
export async function turn(
  model: Model,
  asked: Partial<ModelRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model(request(asked), signal)) events.push(event);
  return events;
}

/** The text of a turn, joined from its pieces. */
export const textOf = (events: readonly ModelEvent[]): string =>
  events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("");

/** The fault that ended a turn. */
export function faultOf(events: readonly ModelEvent[]): Extract<ModelEvent, { type: "error" }>["fault"] {
  const last = events.at(-1);
  if (last?.type !== "error") throw new Error(`it did not fail: ${JSON.stringify(events)}`);
  return last.fault;
}
