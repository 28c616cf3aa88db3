import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../../src/core/task/tool.ts";
import type { McpServer } from "../../../../src/core/vocabulary/mcp-server.ts";
import { createCrew } from "../../../../src/crew.ts";
import { scripted } from "../../../../src/models/scripted/scripted.ts";
import type { Cassette } from "../../../../src/runtime/cassette/cassette.ts";
import { recording } from "../../../../src/runtime/cassette/record.ts";
import { replaying } from "../../../../src/runtime/cassette/replay.ts";
import { type Place, place, script } from "../../command.ts";
import { needs } from "../../../needs.ts";
import { tempFolder } from "../../../support/temp-folder.ts";

const note = (text: string): object => ({ calls: [{ name: "memory_append", input: { key: "notes", text } }] });
const work = { "a.json": script(note("one"), note("two"), "the answer") };
const args = ["run", "pegasus:general", "what is it?", "--model", "scripted:a.json"];
const memory = (at: Place): boolean => existsSync(join(at.home, "state", "memory"));

async function recorded(more: Readonly<Record<string, string>> = {}, prompt = "what is it?"): Promise<string> {
  const at = place({ ...work, ...more });
  const { code, stderr } = await at.run(
    ["run", "pegasus:general", prompt, "--model", "scripted:a.json", "--record", "tape.json"],
    { env: { SERVICE_TOKEN: "hush-hush-12345678" } },
  );
  expect(code, stderr).toBe(0);
  expect(memory(at)).toBe(true);
  return readFileSync(join(at.workspace, "tape.json"), "utf8");
}

describe("subcrew run --replay", () => {
  test("gives the same answer in another folder, without a model, and changes nothing", async () => {
    const at = place({ "tape.json": await recorded(), "a.json": script("nobody asks me") });
    const again = await at.run([...args, "--replay", "tape.json"]);
    expect(again, again.stderr).toMatchObject({ code: 0, stdout: "the answer\n" });
    expect(memory(at)).toBe(false);
  });

  test("the acceptance command is not run: its result is in the recording", async ({ skip }) => {
    const bwrap = await needs("bwrap");
    if (bwrap.missing !== undefined) return skip(bwrap.missing);
    const models = { "red.json": script("red"), "blue.json": script("blue") };
    const race = ["race", "--agents", "general", "--models", "scripted:red.json,scripted:blue.json", "Which?"];
    const check = ["--accept-cmd", "echo asked >> asked.txt; grep -q blue"];
    const at = place(models);
    const before = await at.run([...race, ...check, "--record", "tape.json"]);
    expect(before, before.stderr).toMatchObject({ code: 0, stdout: "blue\n" });
    rmSync(join(at.workspace, "asked.txt"));

    const again = await at.run([...race, ...check, "--replay", "tape.json"]);
    expect(again, again.stderr).toMatchObject({ code: 0, stdout: "blue\n" });
    const other = await at.run([...race, "--accept-cmd", "echo asked >> asked.txt", "--replay", "tape.json"]);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain("used the acceptance command echo asked >> asked.txt");
    expect(existsSync(join(at.workspace, "asked.txt"))).toBe(false);
  });

  test("names a request that is not in the recording, and exits with 1", async () => {
    const at = place({ "tape.json": await recorded(), ...work });
    const other = await at.run([
      "run",
      "pegasus:general",
      "something else",
      "--model",
      "scripted:a.json",
      "--replay",
      "tape.json",
    ]);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain(
      '"pegasus:general" sent its model a different request: message 1 is now "something else", but was "what is it?" in the recording',
    );
    expect(memory(at)).toBe(false);
  });

  test("continues with the real model after --replay-until", async () => {
    const at = place({ "tape.json": await recorded(), "a.json": script("not asked", note("live"), "another answer") });
    const live = await at.run([...args, "--replay", "tape.json", "--replay-until", "1"]);
    expect(live, live.stderr).toMatchObject({ code: 0, stdout: "another answer\n" });
    expect(memory(at)).toBe(true);
  });

  test("a recording contains no secret", async () => {
    const tape = await recorded(
      { "a.json": script(note("hush-hush-12345678"), "it is hush-hush-12345678") },
      "use hush-hush-12345678",
    );
    expect(tape).not.toContain("hush-hush-12345678");
  });

  test.for([
    [["--replay", "nowhere.json"], 'The recording "nowhere.json" does not exist'],
    [["--replay", "a.json"], "recording"],
    [["--record", "x", "--replay", "y"], "cannot be combined"],
    [["--replay-until", "2"], "requires --replay"],
  ] as const)("%s is refused", async ([flags, says]) => {
    const wrong = await place(work).run([...args, ...flags]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain(says);
  });
});

describe("recording and replay in a user's own test", () => {
  let done: string[] = [];
  const shout = defineTool({
    name: "shout",
    description: "shouts",
    input: z.strictObject({ word: z.string() }),
    effect: "write",
    does: "none",
    run: ({ word }) => (done.push(word), word.toUpperCase()),
  });
  const crew = () =>
    createCrew({
      cwd: tempFolder(),
      home: false,
      discover: false,
      tools: [shout],
      models: { m: scripted({ calls: [{ name: "shout", input: { word: "hey" } }] }, "done") },
      agents: [{ name: "a", description: "", instructions: "", tools: ["shout"] }],
    });
  const job = { mode: "single", agent: "a", task: "x" } as const;

  test("models and tools are recorded and answered by functions", async () => {
    done = [];
    let tape: Cassette | undefined;
    await crew().run(job, { deck: recording(async (made) => void (tape = made)) });
    expect(done).toEqual(["hey"]);
    expect(tape?.tools).toEqual([{ task: "a#1", tool: "shout", input: { word: "hey" }, result: "HEY" }]);
    const result = await crew().run(job, { deck: replaying(tape!) });
    expect(result).toMatchObject({ status: "ok", output: "done" });
    expect(done).toEqual(["hey"]);
  });

  test("a tool call that was not recorded is not executed", async () => {
    done = [];
    let tape: Cassette | undefined;
    await crew().run(job, { deck: recording(async (made) => void (tape = made)) });
    const result = await crew().run(job, { deck: replaying({ ...tape!, tools: [] }) });
    expect(result).toMatchObject({ status: "failed", fault: { code: "DRIFT" } });
    expect(done).toEqual(["hey"]);
  });

  describe("with the tools of an MCP server", () => {
    const calls = { calls: [{ name: "mcp__fix__echo", input: { text: "hey" } }] };
    /** A crew that knows nothing about the server yet, so that listing its tools would start it. */
    const crewWith = (server: McpServer) =>
      createCrew({
        cwd: tempFolder(),
        home: tempFolder(),
        env: { PATH: process.env["PATH"] },
        discover: false,
        models: { m: scripted(calls, "done") },
        agents: [{ name: "a", description: "", instructions: "", tools: ["fix__*"] }],
        permissions: { allow: ["mcp__fix__*"] },
        mcpServers: { fix: server },
      });

    test("a replay offers and answers them from the recording, and starts no server", async () => {
      const { server, starts } = startedServer();
      let tape: Cassette | undefined;
      const first = await crewWith(server).run(job, { deck: recording(async (made) => void (tape = made)) });
      expect(first).toMatchObject({ status: "ok", output: "done" });
      expect(starts()).toBe(1);
      const again = await crewWith(server).run(job, { deck: replaying(tape!) });
      expect(again).toMatchObject({ status: "ok", output: "done" });
      expect(starts()).toBe(1);
    });

    test("after the end of the recording the real tools are used", async () => {
      const { server, starts } = startedServer();
      let tape: Cassette | undefined;
      await crewWith(server).run(job, { deck: recording(async (made) => void (tape = made)) });
      const twice = { ...tape!, turns: tape!.turns.slice(0, 1), tools: [] };
      const more = crewWith(server).run(job, { deck: replaying(twice, { until: 1 }) });
      const texts: string[] = [];
      for await (const event of more) if (event.type === "tool.ended") texts.push(event.text);
      expect(texts).toEqual(["echo: hey", "echo: hey"]);
      expect(starts()).toBe(2);
    });
  });
});

/** A real server that records each of its starts. */
function startedServer(): { server: McpServer; starts(): number } {
  const folder = tempFolder({ log: "" });
  const [file, log] = [join(folder, "offer.json"), join(folder, "log")];
  writeFileSync(file, JSON.stringify({ log }));
  return {
    server: {
      command: process.execPath,
      args: [join(import.meta.dirname, "../../tools/mcp/fixture-server.mjs"), file],
    },
    starts: () => readFileSync(log, "utf8").trim().split("\n").filter(Boolean).length,
  };
}
