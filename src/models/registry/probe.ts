import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import type { Endpoint } from "../wires/endpoint.ts";
import type { ProviderAnswer } from "../http/exchange.ts";
import { connectProvider } from "../http/connect-provider.ts";
import type { Provider } from "./provider.ts";

/** The response of a provider that was asked for its models. */
export type ProviderProbe = Readonly<{
  /**
   * The result. `answers`: the provider listed its models. `refused`: it rejected the key. `silent`: no server answered
   * at its address.
   */
  state: "answers" | "refused" | "silent" | "unclear";
  models: readonly string[];
  /** A short description of the result. */
  why: string;
}>;

/** Maximum length of a list of models, in characters. */
const MAX_LENGTH = 4 * 1024 * 1024;
const WAIT_MS = 3_000;

/** Asks a provider which models it has. This sends the key but no prompt, and costs nothing. */
export async function probeProvider({ endpoint, type }: Provider, signal: AbortSignal): Promise<ProviderProbe> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
  const { baseURL, headers, proxy, ca } = endpoint;
  try {
    const connection = connectProvider(baseURL, { silenceMs: WAIT_MS, ...defined({ proxy, ca }) });
    const answer = await connection.get("/models", {
      headers: { ...keyHeaders(type, endpoint), ...headers },
      signal: limit,
    });
    return read(answer.status, await bodyOf(answer));
  } catch (error) {
    signal.throwIfAborted();
    const why = limit.aborted ? `no answer within ${WAIT_MS / 1_000} s` : messageOf(error);
    return { state: "silent", models: [], why };
  }
}

function read(status: number, body: string): ProviderProbe {
  if (status === 401 || status === 403)
    return { state: "refused", models: [], why: `the key was refused (HTTP ${status})` };
  const models = status === 200 ? modelIds(body) : undefined;
  if (models === undefined)
    return { state: "unclear", models: [], why: `the list of models could not be read (HTTP ${status})` };
  return { state: "answers", models, why: `${models.length} ${models.length === 1 ? "model" : "models"}` };
}

/** The ids in a list of models, as OpenAI, Anthropic and Google write it. */
function modelIds(body: string): readonly string[] | undefined {
  let value: unknown;
  try {
    value = parseJson(body);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const list = [value["data"], value["models"]].find((each) => Array.isArray(each));
  if (list === undefined) return undefined;
  return (list as readonly unknown[]).flatMap((row) => {
    const id = isRecord(row) ? (row["id"] ?? row["name"]) : undefined;
    return typeof id === "string" ? [id.replace(/^models\//, "")] : [];
  });
}

function keyHeaders(type: string, { key, keyName }: Endpoint): Record<string, string> {
  if (type === "anthropic") {
    const login = keyName?.endsWith("_AUTH_TOKEN") ? { authorization: `Bearer ${key}` } : { "x-api-key": key ?? "" };
    return { "anthropic-version": "2023-06-01", ...(key !== undefined && login) };
  }
  if (key === undefined) return {};
  return type === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}

async function bodyOf({ body, discard }: ProviderAnswer): Promise<string> {
  let text = "";
  for await (const piece of body) {
    text += piece;
    if (text.length <= MAX_LENGTH) continue;
    discard();
    throw new Error("the answer is too long");
  }
  return text;
}
