import type { Model } from "../../core/model/model.ts";
import type { Endpoint } from "../wires/endpoint.ts";
import type { WireParts } from "../wires/wire.ts";
import { fromLanguageModel } from "./language-model.ts";
import { perModel, streamOnly } from "./library.ts";

/** Creates a model for Google's generateContent API. */
export async function open(endpoint: Endpoint, { prices }: WireParts): Promise<Model> {
  const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
  const { baseURL, key = "none", headers } = endpoint;
  const provider = createGoogleGenerativeAI({
    baseURL,
    apiKey: key,
    headers: { ...headers },
    fetch: streamOnly(endpoint),
  });
  return perModel((id) => fromLanguageModel(provider(id), { prices, endpoint }));
}
