import type { ProviderData, Model, ModelEvent, ModelRequest, TurnUsage } from "../../core/model/model.ts";
import type { Fault } from "../../core/outcome/outcome.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord, JsonDepthError, parseJson, TOO_DEEP_JSON } from "../../core/text/json.ts";
import type { Endpoint } from "./endpoint.ts";
import { estimatedUsage } from "./estimate.ts";
import { abortedFault, badAnswer, brokenOff, faultOfNetwork, faultOfStatus, largeAnswer } from "./fault.ts";
import type { ProviderAnswer } from "../http/exchange.ts";
import { connectProvider } from "../http/connect-provider.ts";
import { type Prices, savedBy } from "./prices.ts";
import { LargeAnswerError } from "./answer-size.ts";
import { createEventReader } from "./sse.ts";

/** A wire format: how requests to a provider are written and answers are read. */
export type Wire = Readonly<{
  path: string;
  headers(endpoint: Endpoint): Record<string, string>;
  /** A request as JSON text. Earlier messages are serialised once and cached. */
  body(request: ModelRequest): string;
  read(): AnswerReader;
}>;

/** Reads one answer, event by event. */
export type AnswerReader = Readonly<{
  /** Appends the content of an event to `out`; a fault ends the answer. */
  take(event: Readonly<Record<string, unknown>>, out: ModelEvent[]): Fault | undefined;
  /** The rest of the answer, once everything has arrived; `undefined` when the answer is incomplete. */
  finish(out: ModelEvent[]): FinishedAnswer | Fault | undefined;
}>;

export type FinishedAnswer = Readonly<{ usage?: TurnUsage; carry?: ProviderData }>;

/** The data that a wire format needs besides the address of the provider: the prices of models. */
export type WireParts = Readonly<{ prices: Prices }>;

/** A model that uses a wire format over HTTP. Text that arrives together becomes one event. */
export function speak(wire: Wire, endpoint: Endpoint, { prices }: WireParts): Model {
  const { silenceMs, proxy, ca } = endpoint;
  const connection = connectProvider(endpoint.baseURL, {
    ...defined({ silenceMs, proxy, ca }),
  });
  const headers = { ...wire.headers(endpoint), ...endpoint.headers };

  return async function* (request, signal) {
    let response: ProviderAnswer | undefined;
    const fail = (fault: Fault): ModelEvent => ({ type: "error", fault: signal.aborted ? abortedFault : fault });
    try {
      response = await connection.post(wire.path, { headers, body: () => wire.body(request), signal });
      const refusal = isStream(response) ? undefined : await notAStream(response, endpoint);
      if (refusal) {
        yield fail(refusal);
        return;
      }
      const price = prices.of(endpoint, request.model); // prices are loaded while the answer arrives
      const reading = wire.read();
      const reader = createEventReader();
      let said = "";
      for await (const piece of response.body) {
        const out: ModelEvent[] = [];
        const fault = readAll(reader.push(piece), { reading, out, endpoint });
        for (const event of out) {
          if (event.type === "text" || event.type === "thinking") said += event.text;
          yield event;
        }
        if (fault === undefined) continue;
        yield fail(fault);
        return;
      }
      const out: ModelEvent[] = [];
      const fault = readAll(reader.end(), { reading, out, endpoint });
      const finished = fault ?? reading.finish(out) ?? brokenOff(endpoint);
      yield* out;
      if ("code" in finished) {
        yield fail(finished);
        return;
      }
      const usage = finished.usage ?? estimatedUsage(request, said);
      const priced = await price;
      const cost = priced(usage);
      yield {
        type: "end",
        usage,
        ...defined({ cost, saved: savedBy(priced, usage), carry: finished.carry }),
      };
    } catch (thrown) {
      yield fail(thrown instanceof LargeAnswerError ? largeAnswer(thrown, endpoint) : faultOfNetwork(thrown, endpoint));
    } finally {
      response?.discard();
    }
  };
}

/** Appends text to a pending event, so that the text of one chunk becomes one event. */
export function appendText(out: ModelEvent[], type: "text" | "thinking", text: string): void {
  if (text === "") return;
  const last = out.at(-1);
  if (last?.type === type) out[out.length - 1] = { type, text: last.text + text };
  else out.push({ type, text });
}

type Round = Readonly<{ reading: AnswerReader; out: ModelEvent[]; endpoint: Endpoint }>;

function readAll(events: readonly string[], { reading, out, endpoint }: Round): Fault | undefined {
  for (const data of events) {
    if (data === "[DONE]") continue;
    let event: unknown;
    try {
      event = parseJson(data);
    } catch (error) {
      const what = error instanceof JsonDepthError ? TOO_DEEP_JSON : "not JSON";
      return badAnswer(`an event is ${what}`, endpoint);
    }
    if (!isRecord(event)) return badAnswer("an event is not an object", endpoint);
    const fault = reading.take(event, out);
    if (fault) return fault;
  }
  return undefined;
}

const isStream = ({ status, headers }: ProviderAnswer): boolean =>
  status === 200 && headers["content-type"]?.includes("text/event-stream") === true;

/** The fault for an answer that is not a stream. */
async function notAStream(response: ProviderAnswer, endpoint: Endpoint): Promise<Fault> {
  const { status, headers } = response;
  const type = headers["content-type"] ?? "";
  const body = await textOf(response);
  if (status < 200 || status >= 300) return faultOfStatus({ status, headers, body }, endpoint);
  return badAnswer(
    body === ""
      ? `the answer ${status} is empty`
      : `the answer has ${type ? `the type ${type}` : "no type"} and is not a stream`,
    endpoint,
  );
}

const LONGEST_BODY = 100_000;

async function textOf(response: ProviderAnswer): Promise<string> {
  let text = "";
  for await (const piece of response.body) {
    text += piece;
    if (text.length > LONGEST_BODY) break;
  }
  return text;
}
