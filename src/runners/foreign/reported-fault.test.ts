import { expect, test } from "vitest";
import { providerFaultOf } from "../../core/model/provider-fault.ts";
import { reportedFault } from "./reported-fault.ts";

const kindOf = (message: string): string | undefined => {
  const fault = reportedFault("claude", { code: "AGENT_REPORTED", message, retryable: false });
  return fault && providerFaultOf(fault);
};

test.each([
  ['API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}', "key"],
  ["Invalid API key · Please run /login", "key"],
  ["unexpected status 403: no access", "key"],
  ["Credit balance is too low", "credit"],
  ['429 {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}', "credit"],
  ["Claude AI usage limit reached|1760000000", "quota"],
  ["You've hit your usage limit. Try again at 6:00 PM.", "quota"],
  ["exceeded retry limit, last status: 429 Too Many Requests", "quota"],
  ["got status: RESOURCE_EXHAUSTED", "quota"],
  ['API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', "provider"],
  ["stream error: HTTP 503 Service Unavailable", "provider"],
  ["connect ECONNREFUSED 127.0.0.1:443", "provider"],
])("the report %j is a fault of the provider: %s", (message, kind) => {
  expect(kindOf(message)).toBe(kind);
});

test.each([
  "401 of 503 tests failed",
  "The build exited with code 1",
  "I could not finish: the server in src/api.ts answers with the wrong headers",
  "The overloaded function `add` has no implementation",
  "error_during_execution",
])("the report %j is not about the provider", (message) => {
  expect(kindOf(message)).toBeUndefined();
});

test("a limit of the task is not mistaken for a fault of the provider, whatever its words", () => {
  const fault = { code: "MAX_TURNS", message: "API Error: 429", retryable: false } as const;
  expect(reportedFault("claude", fault)).toBeUndefined();
});

test.each([
  ["Credit balance is too low", false],
  ["Invalid API key", false],
  ["API Error: 429", true],
  ["HTTP 503", true],
  ["connect ECONNREFUSED 127.0.0.1:443", true],
])("a retry can help after %j: %s", (message, retryable) => {
  expect(reportedFault("claude", { code: "CRASHED", message, retryable: !retryable })).toMatchObject({ retryable });
});
