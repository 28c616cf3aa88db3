import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../support/temp-folder.ts";
import { place } from "../../command.ts";
import { fake, handTo, type Step } from "./lab.ts";

const reads = { tools: ["read_file"] };
const result: Step = { line: { type: "result", subtype: "success", result: "fine", total_cost_usd: 0.01 } };
const delta = (text: string): Step => ({
  line: { type: "stream_event", event: { type: "content_block_delta", delta: { text } } },
});
const call = (id: string, name: string): Step => ({
  line: { type: "assistant", message: { content: [{ type: "tool_use", id, name, input: {} }] } },
});
const run = (steps: readonly Step[]) => handTo("claude", fake("claude", steps).bin, { agent: reads });

describe("a tool of another vendor", () => {
  test.each(["__proto__", "constructor", "__defineGetter__", "toString", "hasOwnProperty"])(
    "whose event type or tool name is %s does no harm",
    async (name) => {
      const { result: ended } = await run([{ line: `{"type":"${name}"}\n` }, call("1", name), result]);
      expect(ended).toMatchObject({ status: "ok", output: "fine" });
      expect(Object.entries(Object.values(ended.nodes)[0]!.tools ?? {})).toEqual([[name, 1]]);
    },
  );

  test("cannot give money or tokens back to the budget", async () => {
    const usage = { input_tokens: -5e15, output_tokens: 10 };
    const { result: ended } = await run([
      { line: { type: "stream_event", event: { type: "message_start", message: { usage } } } },
      delta("hello"),
      { line: { type: "stream_event", event: { type: "message_delta", usage: { output_tokens: -1e300 } } } },
      { line: { type: "result", subtype: "success", result: "fine", total_cost_usd: -50 } },
    ]);
    expect(ended.usage).toMatchObject({ input: 0, output: 0 });
    expect(ended.cost.usd).toBe(0);
  });

  test("that writes endlessly is stopped, and its output is not stored endlessly", async () => {
    const text = "y".repeat(1_000_000);
    const { result: ended } = await run([...Array.from({ length: 13 }, () => delta(text)), { hang: true }]);
    expect(ended.fault).toMatchObject({
      code: "INVALID_OUTPUT",
      message: expect.stringContaining("12000000 characters"),
    });
    const calls = Array.from({ length: 10_001 }, (_, at) => call(String(at), "Read"));
    expect((await run([...calls, { hang: true }])).result.fault).toMatchObject({
      message: expect.stringContaining("10000 calls"),
    });
  });
});

test("output of an ACP agent outside of the protocol does not reach the terminal", async () => {
  const bin = tempFolder();
  const agent = join(bin, "agent.mjs");
  writeFileSync(
    agent,
    `#!${process.execPath}
     const title = String.fromCharCode(27) + "]0;owned" + String.fromCharCode(7);
     const values = [
       { jsonrpc: "2.0", id: title, result: {} },
       { [title]: 1 },
       { jsonrpc: "2.0", method: "session/update", params: { [title]: title } },
     ];
     process.stdin.on("data", () => {
       for (const value of values) process.stdout.write(JSON.stringify(value) + "\\n");
       process.stdout.write(title + "\\n", () => process.exit(3));
     });`,
  );
  chmodSync(agent, 0o755);
  const at = place();
  const args = ["run", "explore", "hello", "--runner", `acp:${agent}`, "--allow-weaker"];
  for (const env of [{}, { SUBCREW_DEBUG: "1" }]) {
    const { code, stdout, stderr } = await at.start(args, { env }).ended;
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain("\u001b]0;");
    expect(stderr.includes("unknown request")).toBe("SUBCREW_DEBUG" in env);
  }
}, 60_000);
