import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { FaultCode } from "../../../src/core/outcome/outcome.ts";
import { badAnswer } from "../../../src/models/wires/fault.ts";
import type { FaultyTurn, ProviderTurn } from "../../../src/testing/provider-turn.ts";
import { faultOf, kinds, modelAt, provider, textOf, turn } from "../../support/talk.ts";

type Row = [name: string, turn: ProviderTurn, code: FaultCode, retryable: boolean, hint: RegExp];

/** The name of each failure, whether it is retried, and the hint for a person. */
const rows: readonly Row[] = [
  ["a key that is refused", { fault: "unauthorized" }, "MODEL_AUTH", false, /was not accepted|requires a key/],
  ["a key without the permission", { fault: "forbidden" }, "MODEL_AUTH", false, /has no permission for this/],
  ["no credit", { fault: "no-credit" }, "MODEL_RATE_LIMIT", false, /credit at .* is used up/],
  ["too many requests", { fault: "rate-limit" }, "MODEL_RATE_LIMIT", true, /--concurrency/],
  ["a model that does not exist", { fault: "no-such-model" }, "MODEL_UNKNOWN", false, /subcrew models/],
  ["a prompt that is too long", { fault: "too-long" }, "MODEL_CONTEXT", false, /less to read/],
  ["an invalid request", { fault: "bad-request" }, "MODEL_BAD_ANSWER", false, /did not accept/],
  ["an internal error of the provider", { fault: "broken" }, "MODEL_OVERLOADED", true, /Try again/],
  ["a service that is unavailable", { fault: "unavailable" }, "MODEL_OVERLOADED", true, /Try again/],
  ["an overload", { fault: "overloaded" }, "MODEL_OVERLOADED", true, /Try again/],
  ["a redirect", { fault: "redirect" }, "MODEL_NETWORK", false, /moved/],
  ["a connection that is reset", { fault: "reset" }, "MODEL_NETWORK", true, /./],
  ["a connection that is reset in the middle", { fault: "dropped", text: "so far" }, "MODEL_NETWORK", true, /./],
  ["a stream that ends too early", { fault: "cut", text: "so far" }, "MODEL_NETWORK", true, /./],
  ["a stream that ends before it begins", { fault: "cut" }, "MODEL_NETWORK", true, /./],
  ["an error in the middle of a stream", { fault: "error-event", text: "so far" }, "MODEL_OVERLOADED", true, /./],
  ["an answer without content", { fault: "no-content" }, "MODEL_BAD_ANSWER", true, /base URL/],
  ["an HTML page instead of an answer", { fault: "html" }, "MODEL_BAD_ANSWER", true, /base URL/],
  ["JSON of another form", { fault: "wrong-shape" }, "MODEL_BAD_ANSWER", true, /base URL/],
  ["events that are not JSON", { fault: "not-json" }, "MODEL_BAD_ANSWER", true, /base URL/],
  ["an event that is too large", { text: "x".repeat(17 * 1_024 * 1_024) }, "MODEL_BAD_ANSWER", false, /base URL/],
  ["a content filter", { text: "I would", finish: "filter" }, "MODEL_REFUSED", false, /Word the task/],
];

describe.each(kinds)("%s", (_, name) => {
  test.each(rows)("%s is recognised", async (_what, script, code, retryable, hint) => {
    const server = await provider([script]);
    const fault = faultOf(await turn(await modelAt(server, name)));
    expect(fault).toMatchObject({ code, retryable });
    expect(fault.hint).toMatch(hint);
    expect(fault.message).toMatch(/\.$|…$|\w$/);
  });

  test("an empty answer is a valid answer", async () => {
    const server = await provider([{ fault: "empty" }]);
    const events = await turn(await modelAt(server, name));
    expect(textOf(events)).toBe("");
    expect(events.at(-1)?.type).toBe("end");
  });

  test("text before a failure is not lost", async () => {
    const server = await provider([{ fault: "dropped", text: "so far" }]);
    expect(textOf(await turn(await modelAt(server, name)))).toBe("so far");
  });

  test.each([
    ["seconds", "7", 7_000],
    ["a fraction", "0.5", 500],
  ])("the wait that a provider demands is read: %s", async (_how, retryAfter, ms) => {
    const server = await provider([{ fault: "rate-limit", retryAfter }]);
    expect(faultOf(await turn(await modelAt(server, name))).retryAfterMs).toBe(ms);
  });

  test("the wait that a provider demands is read: a date", async () => {
    const retryAfter = new Date(Date.now() + 3_600_000).toUTCString();
    const server = await provider([{ fault: "overloaded", retryAfter }]);
    const { retryAfterMs = 0 } = faultOf(await turn(await modelAt(server, name)));
    expect(retryAfterMs).toBeGreaterThan(3_000_000);
    expect(retryAfterMs).toBeLessThanOrEqual(3_601_000);
  });

  test("a key that the provider repeats in an error is not shown", async () => {
    const key = "sk-canary-0123456789abcdefghij";
    const own = name.split("/")[0]!;
    const server = await provider([{ fault: "echo-key" }]);
    const providers = { [own]: { apiKey: key } };
    const fault = faultOf(await turn(await modelAt(server, name, { providers })));
    expect(fault.code).toBe("MODEL_AUTH");
    expect(JSON.stringify(fault)).not.toContain("canary");
  });

  test("a missing server at the address is a network fault, and the hint names the address", async () => {
    const server = await provider([]);
    await server.close();
    const own = name.split("/")[0]!;
    const providers = { [own]: { baseURL: `${server.url}/v1` } };
    const fault = faultOf(await turn(await modelAt(server, name, { providers })));
    expect(fault).toMatchObject({ code: "MODEL_NETWORK", retryable: own !== "ollama" });
    expect(fault.hint).toContain(server.url);
  });
});

test("an exhausted quota is not retried, unless it resets", async () => {
  const server = await provider(() => ({
    fault: "no-quota",
    message: "You exceeded your current quota: see billing.",
  }));
  const fault = async (name: string) => faultOf(await turn(await modelAt(server, name)));
  expect(await fault("openai-chat/gpt-4o")).toMatchObject({ code: "MODEL_RATE_LIMIT", retryable: false });
  expect(await fault("google/gemini-2.5-flash")).toMatchObject({ code: "MODEL_RATE_LIMIT", retryable: true });
});

test("a model request over a silent connection times out", async () => {
  const server = await provider([{ fault: "hang" }]);
  const providers = { anthropic: { silenceMs: 50 } };
  const fault = faultOf(await turn(await modelAt(server, "anthropic/claude-haiku-4-5", { providers })));
  expect(fault).toMatchObject({ code: "MODEL_NETWORK", retryable: true });
});

test("a server that does not speak HTTP is named in the hint", async () => {
  const ssh = net.createServer((socket) => socket.on("error", () => {}).end("SSH-2.0-OpenSSH_9.2\r\n"));
  onTestFinished(() => void ssh.close());
  ssh.listen(0, "127.0.0.1");
  await once(ssh, "listening");
  const baseURL = `http://127.0.0.1:${(ssh.address() as AddressInfo).port}/v1`;
  const model = await modelAt(await provider([]), "openai-chat/gpt-4o", { providers: { "openai-chat": { baseURL } } });
  const fault = faultOf(await turn(model));
  expect(fault).toMatchObject({ code: "MODEL_NETWORK", message: expect.stringContaining("not valid HTTP") });
  expect(fault.hint).toContain(baseURL);
});

test("an https address of a server without TLS gives the hint that the server has no TLS, and no hint about the certificate", async () => {
  const server = await provider([]);
  const providers = { "openai-chat": { baseURL: `${server.url.replace("http:", "https:")}/v1` } };
  const fault = faultOf(await turn(await modelAt(server, "openai-chat/gpt-4o", { providers })));
  expect(fault).toMatchObject({
    code: "MODEL_NETWORK",
    retryable: false,
    hint: expect.stringContaining("No TLS server"),
  });
});

test("a header with a line end is not sent, and the hint names its source", async () => {
  const server = await provider([]);
  const providers = { "openai-chat": { headers: { "x-team": "red\nx-admin: yes" } } };
  const fault = faultOf(await turn(await modelAt(server, "openai-chat/gpt-4o", { providers })));
  expect(fault).toMatchObject({ code: "MODEL_NETWORK", retryable: false, hint: expect.stringContaining("headers") });
  expect(fault.message).toContain("x-team");
  expect(server.requests).toEqual([]);
});

test("an error text of a server becomes one short line without control characters", async () => {
  const message = `\u001b[31mred\u001b[0m\n${"long ".repeat(500)}`;
  const broken: FaultyTurn = { fault: "broken", message };
  const server = await provider([broken]);
  const fault = faultOf(await turn(await modelAt(server, "openai-chat/gpt-4o")));
  expect(fault.message).toMatch(/^openai-chat answered 500: red long/);
  expect(fault.message.length).toBeLessThan(400);
  expect(fault.message).not.toContain("\u001b");
});

test.each(["it is empty", "it is empty."])("the reason %j of an invalid answer ends with one full stop", (why) => {
  expect(badAnswer(why, { provider: "p" }).message).toBe("p sent an invalid answer: it is empty.");
});
