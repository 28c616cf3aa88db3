import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { serveHttp } from "../../src/mcp/http.ts";
import { defineTool } from "../../src/index.ts";
import { ourServer, workerCrew } from "../a2a/lab.ts";
import { crewOf } from "../mcp/session.ts";
import { play } from "../support/play.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { place } from "./command.ts";
import { fake, handTo } from "./runners/foreign/lab.ts";

const LEVELS = 100_000;
const lists = "[".repeat(LEVELS) + "]".repeat(LEVELS);
const objects = '{"a":'.repeat(LEVELS) + "1" + "}".repeat(LEVELS);
const kinds = [
  ["lists", lists],
  ["objects", objects],
] as const;

/** The messages of an engine that ran out of stack, and those about an unexpected error. */
const INTERNAL = /call stack|RangeError|CRASHED|crashed|internal error|Unexpected error|\bat \S+:\d+:\d+/i;
const TOO_DEEP = /nested deeper than \d+ levels|exceeded maxDepth/;

describe.each(kinds)("JSON with 100,000 levels of %s", (_, deep) => {
  test("as the arguments of a call is answered, and the task continues", async () => {
    const at = place();
    const call = (input: string): string => `{"calls":[{"name":"read_file","input":${input}}]}`;
    writeFileSync(join(at.workspace, "script.json"), `[${call(`{"path":${deep}}`)},"done"]`);
    const { code, stderr } = await at.run(["run", "explore", "hi", "--model", "scripted:script.json"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(TOO_DEEP);

    const { events, outcome } = await play([
      { calls: [{ name: "read_file", input: { path: JSON.parse(deep) as unknown } }] },
      { calls: [{ name: "finish", input: JSON.parse(deep) as unknown }] },
    ]);
    expect(outcome).toMatchObject({ status: "ok" });
    const rejected = events.flatMap((event) => (event.type === "tool.rejected" ? [event.text] : []));
    expect(rejected[0]).toContain("nested deeper than 200 levels");
  });

  test("as the result of a tool is an error that names the reason", async () => {
    const bomb = defineTool({
      name: "bomb",
      description: "returns it",
      input: z.object({}),
      effect: "read",
      does: "none",
      run: () => JSON.parse(deep) as string,
    });
    const { ended } = await play([{ calls: [{ name: "bomb", input: {} }] }], { tools: [bomb] });
    expect(ended).toMatchObject([{ error: true, text: "bomb failed: its result is nested deeper than 200 levels" }]);
  });

  test("as an answer where a schema is required is not a valid answer", async () => {
    const at = place({ "script.json": JSON.stringify([deep, deep, deep, deep]) });
    const args = ["run", "explore", "hi", "--model", "scripted:script.json", "--schema", '{"type":"object"}'];
    const { code, stderr } = await at.run(args);
    expect(stderr).not.toMatch(INTERNAL);
    expect(code).toBe(5);
  });

  test("in a file is reported as a problem of the file", async () => {
    const at = place({
      "script.json": deep,
      "plan.json": `{"nodes":${deep}}`,
      "schema.json": `{"type":"object","properties":{"a":${deep}}}`,
    });
    for (const args of [
      ["run", "explore", "hi", "--model", "scripted:script.json"],
      ["run", "--plan", "plan.json"],
      ["run", "explore", "hi", "--schema", "schema.json"],
    ]) {
      const { code, stderr } = await at.run(args);
      expect([args.join(" "), code, TOO_DEEP.test(stderr), INTERNAL.test(stderr)]).toEqual([
        args.join(" "),
        2,
        true,
        false,
      ]);
    }
  });

  test("in the output of another tool fails the task with a clear error", async () => {
    const line = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Read","input":{"a":${deep}}}]}}\n`;
    const { result } = await handTo("claude", fake("claude", [{ line }]).bin, { agent: { tools: ["read_file"] } });
    expect(result.fault).toMatchObject({
      code: "INVALID_OUTPUT",
      message: "The output of claude cannot be read: a line is nested deeper than 200 levels.",
    });
  });

  test("in a request to the MCP server over HTTP is refused", async () => {
    const errors: unknown[] = [];
    const served = await serveHttp(crewOf({ scout: ["found"] }), {
      token: "t".repeat(40),
      onError: (error) => errors.push(error),
    });
    try {
      for (const params of [
        deep,
        `{"name":"run","arguments":{"agent":"scout","task":"x","schema":{"enum":[${deep}]}}}`,
      ]) {
        const response = await fetch(served.url, {
          method: "POST",
          headers: {
            authorization: `Bearer ${"t".repeat(40)}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
          },
          body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
        });
        const text = await response.text();
        expect(text).toMatch(TOO_DEEP);
        expect(text).not.toMatch(INTERNAL);
      }
      expect(errors).toEqual([]);
    } finally {
      await served.close();
    }
  });

  test("in a request to the A2A server is refused", async () => {
    const server = await ourServer(workerCrew(["found"]));
    for (const params of [deep, `{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"data":{"a":${deep}}}]}}`]) {
      const response = await fetch(`${server.url}/worker`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json", "A2A-Version": "1.0" },
        body: `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":${params}}`,
      });
      const text = await response.text();
      expect(text).toMatch(TOO_DEEP);
      expect(text).not.toMatch(INTERNAL);
      expect(JSON.parse(text)).toMatchObject({ id: 7 });
    }
  });

  test("from an MCP server is an error of the call, and the server is still used", async () => {
    const cwd = tempFolder();
    const server = join(cwd, "server.mjs");
    writeFileSync(
      server,
      `import { createInterface } from "node:readline";
       const tools = [{ name: "bomb", inputSchema: { type: "object" } }, { name: "fine", inputSchema: { type: "object" } }];
       const results = {
         initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
         "tools/list": { tools },
       };
       for await (const line of createInterface({ input: process.stdin })) {
         const { id, method, params } = JSON.parse(line);
         if (id === undefined) continue;
         const result = results[method] && JSON.stringify(results[method]);
         const called = params?.name === "bomb"
           ? '{"content":[],"structuredContent":{"a":' + ${JSON.stringify("DEEP")} + "}}"
           : '{"content":[{"type":"text","text":"well"}]}';
         const error = method === "tools/call" || result ? undefined : '{"code":-32601,"message":"no"}';
         process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + (error ? ',"error":' + error : ',"result":' + (result ?? called)) + "}\\n");
       }`.replace('"DEEP"', JSON.stringify(deep)),
    );
    const { ended } = await play(
      [{ calls: [{ name: "mcp__s__bomb", input: {} }] }, { calls: [{ name: "mcp__s__fine", input: {} }] }],
      { cwd, mcpServers: { s: { command: process.execPath, args: [server] } }, permissions: { mode: "bypass" } },
    );
    expect(ended[0]).toMatchObject({ error: true, text: expect.stringMatching(TOO_DEEP) });
    expect(ended[0]?.text).not.toMatch(INTERNAL);
    expect(ended[1]).toMatchObject({ error: false, text: "well" });
  });
});
