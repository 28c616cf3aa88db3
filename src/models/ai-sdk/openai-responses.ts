import type { Model } from "../../core/model/model.ts";
import type { Endpoint } from "../wires/endpoint.ts";
import type { WireParts } from "../wires/wire.ts";
import { fromLanguageModel } from "./language-model.ts";
import { perModel, streamOnly } from "./library.ts";

/** Creates a model for OpenAI's Responses API, with the storing of conversations switched off. */
export async function open(endpoint: Endpoint, { prices }: WireParts): Promise<Model> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const { baseURL, key = "none", headers } = endpoint;
  const provider = createOpenAI({ baseURL, apiKey: key, headers: { ...headers }, fetch: streamOnly(endpoint) });
  return perModel((id) => fromLanguageModel(provider.responses(id), { prices, endpoint, options: { store: false } }));
}
