import type { Fault } from "../../core/outcome/outcome.ts";
import { isRecord } from "../../core/text/json.ts";
import { LargeAnswerError } from "../wires/answer-size.ts";
import type { Endpoint } from "../wires/endpoint.ts";
import {
  badAnswer,
  brokenOff,
  faultOfEvent,
  faultOfNetwork,
  faultOfStatus,
  largeAnswer,
  refused,
} from "../wires/fault.ts";
import { NotAStreamError } from "./library.ts";
import { type FinishPart, finishReasonOf } from "./library-answer.ts";

/**
 * Maps errors of the AI SDK to faults. They are recognised by their fields, because another copy of the library has
 * other classes.
 */
export function faultOfLibrary(error: unknown, endpoint: Endpoint): Fault {
  if (!isRecord(error)) return faultOfEvent(error, endpoint);
  const large = causesOf(error).find((each) => each instanceof LargeAnswerError);
  if (large) return largeAnswer(large, endpoint);
  if (error instanceof NotAStreamError) return badAnswer(error.message, endpoint);
  if (isNetworkError(error)) return faultOfNetwork(error, endpoint);
  const { name, statusCode, responseHeaders, responseBody } = error;
  const wrongShape = /TypeValidation|JSONParse|InvalidResponseData|EmptyResponseBody|NoContentGenerated/.test(
    String(name),
  );
  if (wrongShape) return badAnswer("the answer does not have the expected structure", endpoint);
  if (/LoadAPIKey|LoadSetting/.test(String(name))) {
    const fault = faultOfStatus({ status: 401, headers: {}, body: wordsOf(error) }, endpoint);
    return { ...fault, message: `No key of ${endpoint.provider} was found.` };
  }
  if (typeof statusCode === "number") {
    const body = typeof responseBody === "string" && responseBody !== "" ? responseBody : wordsOf(error);
    if (statusCode >= 200 && statusCode < 300)
      return badAnswer("the answer does not have the expected structure", endpoint);
    return faultOfStatus({ status: statusCode, headers: headersOf(responseHeaders), body }, endpoint);
  }
  return error instanceof Error ? badAnswer(wordsOf(error), endpoint) : faultOfEvent(error, endpoint);
}

/** True if fetch threw the error, or an error that the library wrapped in it. */
const isNetworkError = (error: unknown): boolean =>
  causesOf(error).some(
    (at) =>
      (typeof at["code"] === "string" && /^(E[A-Z]+|UND_ERR_\w+)$/.test(at["code"])) ||
      (at instanceof TypeError && /terminated|fetch failed/.test(at.message)),
  );

/** The error, and the errors that caused it. */
function causesOf(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const found: Record<string, unknown>[] = [];
  for (let at: unknown = error; isRecord(at) && found.length < 5; at = at["cause"]) found.push(at);
  return found;
}

const wordsOf = (error: Readonly<Record<string, unknown>>): string =>
  typeof error["message"] === "string" ? error["message"] : JSON.stringify(error);

function headersOf(given: unknown): Record<string, string> {
  if (!isRecord(given)) return {};
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), String(value)]));
}

/** The fault of an answer that ended incomplete, blocked by a content filter, or with an error. */
export function faultOfFinish(finish: FinishPart | undefined, endpoint: Endpoint): Fault | undefined {
  const reason = finishReasonOf(finish);
  if (reason === "none") return brokenOff(endpoint);
  if (reason === "content-filter") return refused(endpoint);
  return reason === "error" ? badAnswer("the answer ended with an error", endpoint) : undefined;
}
