import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/index.ts";
import type { Script } from "../../src/models/scripted/scripted.ts";
import { call, play } from "../support/play.ts";
import { tempFolder } from "../support/temp-folder.ts";

const free = { permissions: { mode: "bypass", sandbox: "off" } } as const;
const ROUNDS = 8;

/** A workspace whose file can be changed from one number to the next. */
function workspace(): string {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "a.txt"), "version 0\n");
  mkdirSync(join(cwd, "src"));
  return cwd;
}

const bash = (command: string): Script => call("bash", { command });
const check = bash("test -f a.txt && true");
const edit = (from: number, to: number): Script =>
  call("edit_file", { path: "a.txt", oldText: `version ${from}\n`, newText: `version ${to}\n` });

/** Starts another agent, as the delegation tools do. */
const start = defineTool({
  name: "start",
  description: "starts",
  input: z.object({}),
  effect: "read",
  does: "spawn",
  run: () => "done",
});

const rounds = (make: (round: number) => readonly Script[]): Script[] =>
  Array.from({ length: ROUNDS }, (_, round) => make(round)).flat();

describe("a call that is repeated with the same result", () => {
  test.each<[string, (round: number) => Script]>([
    ["an edit", (n) => edit(n, n + 1)],
    ["an edit to and fro", (n) => edit(n % 2, (n + 1) % 2)],
    ["a written file", (n) => call("write_file", { path: "a.txt", content: `${n}` })],
    ["another command", (n) => bash(`echo ${n} >> log`)],
    ["the same other command", () => bash("echo again >> log")],
    ["a subagent", () => call("start", {})],
  ])("is no sign of being stuck if %s came between", async (_, change) => {
    const { outcome } = await play(
      rounds((n) => [change(n), check]),
      { cwd: workspace(), ...free, tools: [start] },
    );
    expect(outcome).toMatchObject({ status: "ok", output: "done" });
  });

  test.each<[string, Script]>([
    ["a failed edit", edit(7, 8)],
    ["a file that was read", call("read_file", { path: "a.txt" })],
    ["a command that only reads", bash("ls src")],
    ["a failed command", bash("touch missing/file")],
    ["a note in the list of the task", call("todo", { action: "list" })],
  ])("ends the task despite %s between", async (_, between) => {
    const { events, outcome } = await play([...rounds(() => [between, check])], { cwd: workspace(), ...free });
    expect(outcome).toMatchObject({ status: "failed", fault: { code: "STUCK" } });
    expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(11); // five rounds, and the last turn
  });

  test("counts once in a turn, because the model sees no result between", async () => {
    const { calls = [] } = check as { calls?: object[] };
    const turn = { calls: Array.from({ length: 6 }, () => calls[0]) } as Script;
    const { outcome } = await play([turn], { cwd: workspace(), ...free });
    expect(outcome).toMatchObject({ status: "ok" });
  });

  test("is normal for tools that wait or show progress", async () => {
    const polls = [call("bash_output", {}), call("sleep", { seconds: 0.001 }), call("TaskOutput", { action: "list" })];
    const agent = { tools: ["*", "Task"], delegation: ["Task"], spawns: "*" };
    const { outcome, ended } = await play(
      rounds(() => polls),
      { cwd: workspace(), ...free, agent },
    );
    expect(outcome).toMatchObject({ status: "ok" });
    expect(ended.filter(({ error }) => error)).toEqual([]);
  });

  test("is noticed if the result is so long that it is kept in a file", async () => {
    const long = defineTool({
      name: "long",
      description: "long",
      input: z.object({}),
      effect: "read",
      run: () => "the same line\n".repeat(10_000),
    });
    const { outcome } = await play(
      rounds(() => [call("long", {})]),
      { cwd: workspace(), ...free, tools: [long] },
    );
    expect(outcome).toMatchObject({ fault: { code: "STUCK" } });
  });

  test("has another result if only the end of the result differs", async () => {
    const cwd = workspace();
    const read = call("read_file", { path: "long.txt" });
    const turns = rounds((n) => [
      () => {
        writeFileSync(join(cwd, "long.txt"), `${"the same line\n".repeat(100)}${n}\n`);
        return read as never;
      },
    ]);
    expect((await play(turns, { cwd, ...free })).outcome).toMatchObject({ status: "ok" });
  });
});

describe("an agent that makes no progress gets its last turn", () => {
  let at = 0;
  /** A turn with calls that a rule forbids, each with other arguments. */
  const refused = (count: number): Script => ({
    calls: Array.from({ length: count }, () => ({ name: "bash", input: { command: `rm ${++at}` } })),
  });
  const forbids = { permissions: { deny: ["bash(rm *)"] } };

  test.each<[string, readonly Script[], object, string]>([
    ["after five equal calls", Array.from({ length: 5 }, () => check), free, "the same call with the same result"],
    ["after five turns of refused calls", [30, 1, 1, 1, 1].map(refused), forbids, "turns whose calls were all refused"],
  ])("%s, in which it returns its result", async (_, turns, permissions, told) => {
    let asked = "";
    const last: Script = ({ messages }) => {
      asked = JSON.stringify(messages.at(-1));
      return "What I have.";
    };
    const { outcome, events } = await play([...turns, last], { cwd: workspace(), ...permissions });
    expect(outcome).toMatchObject({ status: "ok", output: "What I have." });
    expect(asked).toContain(told);
    expect(events.filter(({ type }) => type === "limit.reached")).toHaveLength(1);
  });

  test("but not if one call of the five turns was carried out", async () => {
    const turns = [refused(9), refused(9), call("read_file", { path: "a.txt" }), ...[1, 1, 1, 1].map(refused)];
    const { outcome, denied } = await play(turns, { cwd: workspace(), ...forbids });
    expect(outcome).toMatchObject({ status: "ok", output: "done" });
    expect(denied).toHaveLength(22);
  });
});
