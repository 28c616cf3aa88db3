import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createCrew } from "../../src/index.ts";
import { serveStdio } from "../../src/mcp/stdio.ts";
import { greet } from "../../src/mcp/start/greet.ts";

const client = { capabilities: {}, clientInfo: { name: "host", version: "1" } };
const asking = (id: unknown, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;

/**
 * Sends text to a server and returns its answer, by lines; `early` is the part that came before the server was loaded.
 */
async function talk(text: readonly string[], { greeted = true } = {}) {
  const [host, back] = [new PassThrough(), new PassThrough()];
  let said = "";
  back.on("data", (chunk) => (said += String(chunk)));
  const streams = greeted ? greet(host, back) : { input: host, output: back };
  for (const piece of text) host.write(piece);
  await new Promise(setImmediate);
  const early = said;
  const crew = createCrew({ home: false, discover: false, env: {} });
  const rules = { allRuns: false, answersCalls: false, attended: true };
  const serving = serveStdio(crew, { ...rules, ...streams, signal: new AbortController().signal, onError: () => {} });
  await expect.poll(() => said.includes('"id":9')).toBe(true);
  host.end();
  await serving;
  const lines = (all: string) =>
    all
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { id: unknown });
  return { early: lines(early), all: lines(said) };
}
const last = asking(9, "ping");

test.for(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
  "a host with the protocol revision %s gets its first answer before the server is loaded, and it is the answer of the server",
  async (protocolVersion) => {
    const hello = asking("é1", "initialize", { protocolVersion, ...client });
    const slow = await talk([hello, last], { greeted: false });
    const { early, all } = await talk([hello.slice(0, 50), hello.slice(50), last]);
    expect(early).toEqual([slow.all[0]]);
    expect(all).toEqual(slow.all);
  },
);

test.for([
  ["another revision", asking(1, "initialize", { protocolVersion: "1999-01-01", ...client })],
  ["a client without a name", asking(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {} })],
  ["another request", asking(1, "tools/list")],
  ["no JSON", "hello\n"],
])("a host that begins with %s gets the answers of the server itself", async ([, first]) => {
  const text = [first!, asking(2, "initialize", { protocolVersion: "2025-06-18", ...client }), last];
  const { early, all } = await talk(text);
  expect(early).toEqual([]);
  expect(all).toEqual((await talk(text, { greeted: false })).all);
});
