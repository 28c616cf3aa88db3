import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Script } from "../../../../src/models/scripted/scripted.ts";
import { deferred } from "../../../../src/runtime/async/deferred.ts";
import { shell } from "../../../support/repository.ts";
import { project, runs, text, waits, warnings, write } from "./lab.ts";

const task = (agent: string, more: object = {}, needs?: readonly string[]): object => ({
  kind: "task",
  ...(needs && { needs }),
  task: { agent, prompt: "Go.", isolation: "worktree", ...more },
});
const pick = (...needs: readonly string[]): object => ({ kind: "join", needs, pick: "first" });
const plan = (nodes: Readonly<Record<string, object>>, output = "winner"): object => ({
  mode: "plan",
  plan: { nodes, output },
});
const look = (path: string): Script => ({ calls: [{ name: "read_file", input: { path } }] });
const there = (cwd: string, ...files: readonly string[]): boolean[] => files.map((file) => existsSync(join(cwd, file)));
const isClean = (cwd: string): boolean => shell(cwd, "git worktree list | wc -l").trim() === "1";

describe("changes of agents that work for a contender", () => {
  test("a chain applies its changes when its last task has won, and each step sees the changes before it", async () => {
    const cwd = project();
    const seen: boolean[] = [];
    const won = deferred<void>();
    const turns = {
      a1: [write("a.txt", "a1\n"), "a1"],
      a2: [
        look("a.txt"),
        ({ messages }: { messages: readonly unknown[] }) => {
          seen.push(JSON.stringify(messages.at(-1)).includes("a1"), text(cwd, "a.txt") === "one\n");
          won.resolve();
          return "a2 is done";
        },
      ] as Script[],
      b1: [write("b.txt", "b1\n"), "b1"],
      b2: [() => won.promise.then(() => waits)] as Script[],
    };
    const { result, events } = await runs(
      cwd,
      turns,
      plan({
        a1: task("a1"),
        a2: task("a2", { isolation: "off" }, ["a1"]),
        b1: task("b1"),
        b2: task("b2", {}, ["b1"]),
        winner: pick("a2", "b2"),
      }),
    );
    expect(result).toMatchObject({ status: "ok", from: ["a2"] });
    expect(seen).toEqual([true, true]);
    expect([text(cwd, "a.txt"), ...there(cwd, "b.txt")]).toEqual(["a1\n", false]);
    expect(result.nodes["a2"]!.changes).toMatchObject({ applied: true, files: ["a.txt"] });
    expect(warnings(events).join()).toMatch(/"b2" to 1 file \(b\.txt\) were not applied/);
    expect(isClean(cwd)).toBe(true);
  });

  test("a group applies the changes of its members when the whole group has won", async () => {
    const cwd = project();
    const turns = {
      x: [write("x.txt", "x\n"), "x"],
      y: [write("y.txt", "y\n"), "y"],
      z: [write("z.txt", "z\n"), waits],
    };
    const { result } = await runs(
      cwd,
      turns,
      plan({
        x: task("x"),
        y: task("y"),
        both: { kind: "join", needs: ["x", "y"], pick: "settled" },
        z: task("z"),
        winner: pick("both", "z"),
      }),
    );
    expect(result).toMatchObject({ status: "ok", from: ["both"] });
    expect(result.nodes["both"]!.changes).toMatchObject({ applied: true, files: ["x.txt", "y.txt"] });
    expect(there(cwd, "x.txt", "y.txt", "z.txt")).toEqual([true, true, false]);
    expect(isClean(cwd)).toBe(true);
  });

  test("a group with a failed member changes nothing, and its changes are stored", async () => {
    const cwd = project();
    const asked = deferred<void>();
    const turns = {
      x: [write("x.txt", "x\n"), "x"],
      y: [() => (asked.resolve(), "")] as Script[],
      z: [write("z.txt", "z\n"), () => asked.promise.then(() => "z is done")] as Script[],
    };
    const { result, events } = await runs(
      cwd,
      turns,
      plan({
        x: task("x"),
        y: task("y", { prompt: "After {x}", refs: { x: "x" } }),
        both: { kind: "join", needs: ["x", "y"], pick: "settled" },
        z: task("z"),
        winner: pick("both", "z"),
      }),
    );
    expect(result).toMatchObject({ status: "ok", from: ["z"] });
    expect(there(cwd, "x.txt", "z.txt")).toEqual([false, true]);
    expect(warnings(events).join()).toMatch(/"both" to 1 file \(x\.txt\) were not applied/);
  });

  test("a race inside of a contender, and a team of two in a race, apply only changes that won at every level", async () => {
    const cwd = project();
    const inner = deferred<void>();
    const turns = {
      a: [write("a1.txt", "a\n"), "a is done"],
      b: [write("b1.txt", "b\n"), waits],
      after: [look("a1.txt"), () => (inner.resolve(), "after is done")] as Script[],
      c: [write("c1.txt", "c\n"), () => inner.promise.then(() => waits)] as Script[],
    };
    const { result } = await runs(
      cwd,
      turns,
      plan({
        a: task("a"),
        b: task("b"),
        inner: pick("a", "b"),
        after: task("after", { isolation: "off" }, ["inner"]),
        c: task("c"),
        winner: pick("after", "c"),
      }),
    );
    expect(result).toMatchObject({ status: "ok", output: "after is done" });
    expect(there(cwd, "a1.txt", "b1.txt", "c1.txt")).toEqual([true, false, false]);
    expect(result.nodes["after"]!.changes).toMatchObject({ applied: true, files: ["a1.txt"] });
    expect(isClean(cwd)).toBe(true);
  });

  test("isolated helpers of a contender without a worktree wait for its result, and see each other's changes", async () => {
    const cwd = project();
    const seen: boolean[] = [];
    const helped = deferred<void>();
    const tools = [
      {
        name: "start",
        description: "",
        input: { type: "object" },
        effect: "read",
        does: "spawn",
        run: async ({ agent }: { agent: string }, { delegate }: { delegate(what: object): Promise<object> }) => {
          await delegate({ mode: "single", agent, task: "Go.", isolation: "worktree", isolationDirty: true });
          seen.push(...there(cwd, `${agent}.txt`));
          return "helped";
        },
      },
    ] as never;
    const start = (agent: string): Script => ({ calls: [{ name: "start", input: { agent } }] });
    const turns = {
      left: [start("one"), start("two"), () => (helped.resolve(), "left is done")] as Script[],
      right: [start("three"), () => helped.promise.then(() => waits)] as Script[],
      one: [write("one.txt", "1\n"), "1"],
      two: [
        look("one.txt"),
        ({ messages }: { messages: readonly unknown[] }) => {
          seen.push(JSON.stringify(messages.at(-1)).includes("1"));
          return write("two.txt", "2\n");
        },
        "2",
      ] as Script[],
      three: [write("three.txt", "3\n"), "3"],
    };
    const race = { task: "Go.", agents: ["left", "right"] };
    const { result } = await runs(cwd, turns, { mode: "race", race }, { tools });
    expect(result).toMatchObject({ status: "ok", from: ["left"] });
    expect(seen.filter((is) => is)).toEqual([true]);
    expect(there(cwd, "one.txt", "two.txt", "three.txt")).toEqual([true, true, false]);
    expect(result.nodes["left"]!.changes).toMatchObject({ applied: true, files: ["one.txt", "two.txt"] });
    expect(isClean(cwd)).toBe(true);
  });

  test("changes of a task that every contender needs are applied at once", async () => {
    const cwd = project();
    const seen: boolean[] = [];
    const turns = {
      base: [write("base.txt", "b\n"), "base"],
      a: [() => (seen.push(...there(cwd, "base.txt")), "a is done")] as Script[],
      b: [waits],
    };
    const { result } = await runs(
      cwd,
      turns,
      plan({ base: task("base"), a: task("a", {}, ["base"]), b: task("b", {}, ["base"]), winner: pick("a", "b") }),
    );
    expect([result.status, seen]).toEqual(["ok", [true]]);
  });
});
