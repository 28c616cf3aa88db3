import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Script, ScriptedTurn } from "../../../../src/models/scripted/scripted.ts";
import { deferred } from "../../../../src/runtime/async/deferred.ts";
import { shell } from "../../../support/repository.ts";
import { alone, project, runs, state, text, warnings, write } from "./lab.ts";

/** A tool with which a lead starts other agents. */
const starting = (input: object) =>
  [
    {
      name: "start",
      description: "",
      input: { type: "object" },
      effect: "read",
      does: "spawn",
      run: async (_: unknown, { delegate }: { delegate(what: object): Promise<{ status: string }> }) =>
        (await delegate(input)).status,
    },
  ] as never;
const start: Script = { calls: [{ name: "start", input: {} }] };

describe("an agent that an isolated task starts", () => {
  test("works in the worktree of the task, and its changes come back with it", async () => {
    const cwd = project();
    const turns = { lead: [write("a.txt", "lead\n"), start, "done"], child: [write("b.txt", "child\n"), "done"] };
    const { result } = await runs(cwd, turns, alone("lead"), {
      tools: starting({ mode: "single", agent: "child", task: "Go." }),
    });
    expect(result.nodes["lead"]!.changes).toMatchObject({ applied: true, files: ["a.txt", "b.txt"] });
    expect(result.nodes["lead/child"]!.changes).toBeUndefined();
    expect(text(cwd, "b.txt")).toBe("child\n");
  });

  test("may have its own worktree, whose changes are applied to the worktree above", async () => {
    const cwd = project();
    const before = state(cwd);
    const child = { agent: "child", task: "Go.", isolation: "worktree" };
    const turns = {
      lead: [write("a.txt", "lead\n"), start, "done"],
      child: [write("b.txt", "1\n"), "done", write("b.txt", "2\n"), "done"],
    };
    const { result, events } = await runs(cwd, turns, alone("lead", { isolationKeep: true }), {
      tools: starting({ mode: "chain", chain: [child, child] }),
    });
    const inner = Object.entries(result.nodes).filter(([path]) => path.startsWith("lead/"));
    expect(inner.map(([, node]) => node.changes?.applied)).toContain(true);
    expect(result.nodes["lead"]!.changes!.files).toEqual(["a.txt", "b.txt"]);
    expect([text(cwd, "a.txt"), existsSync(join(cwd, "b.txt"))]).toEqual(["one\n", false]);
    expect(warnings(events).at(-1)).toContain("as requested");
    expect(state(cwd)).toBe(before);
  });
});

test("an agent whose file requires a worktree gets one; a person's task can turn the worktree off, a model's task cannot", async () => {
  const agent = { isolation: "worktree" as const };
  const edit = { worker: [write("a.txt", "two\n"), "done"] };
  const input = { mode: "single", agent: "worker", task: "Go." };
  const apart = await runs(project(), edit, input, { agent });
  expect(apart.result.nodes["worker"]!.changes).toMatchObject({ applied: true });
  const here = await runs(project(), edit, { ...input, isolation: "off" }, { agent });
  expect(here.result.nodes["worker"]!.changes).toBeUndefined();
  const { result } = await runs(
    project(),
    { worker: [start, write("a.txt", "two\n"), "done", "done"] },
    { ...input, isolation: "off" },
    {
      agent,
      tools: starting({ ...input, isolation: "off" }),
    },
  );
  expect(result.nodes["worker/worker"]!.changes).toMatchObject({ applied: true });
});

test("a task in a folder of the repository is limited to it: changes outside of it are not applied", async () => {
  const cwd = project("mkdir sub && echo s > sub/s.txt && git add . && git commit -qm sub");
  const tools = [
    {
      name: "meddle",
      description: "",
      input: { type: "object" },
      effect: "read" as const,
      run: (_: unknown, context: { cwd: string }) => shell(context.cwd, "pwd; echo two > ../a.txt"),
    },
  ];
  const inside = await runs(join(cwd, "sub"), { worker: [write("s.txt", "new\n"), "done"] }, alone("worker"));
  expect([inside.result.nodes["worker"]!.changes?.applied, text(cwd, "sub/s.txt")]).toEqual([true, "new\n"]);
  const { result, events } = await runs(
    join(cwd, "sub"),
    { worker: [{ calls: [{ name: "meddle", input: {} }] }, "done"] },
    alone("worker"),
    { tools },
  );
  expect(result.nodes["worker"]!.changes, JSON.stringify([result, warnings(events)])).toMatchObject({
    applied: false,
    files: ["a.txt"],
  });
  expect(warnings(events).at(-1)).toContain("outside of the working folder");
});

test("a task that is stopped leaves its changes as a patch, and no worktree", async () => {
  const cwd = project();
  const before = state(cwd);
  const written = deferred<ScriptedTurn>();
  const turns = {
    quick: [() => written.promise],
    slow: [write("a.txt", "two\n"), () => (written.resolve("won"), { text: "never", delayMs: 600_000 })],
  };
  const { result, home } = await runs(cwd, turns, {
    mode: "race",
    race: { task: "Go.", agents: ["quick", "slow"], isolation: "worktree" },
  });
  expect(result.output).toBe("won");
  expect(state(cwd)).toBe(before);
  expect(text(home, `runs/${result.id}/outputs/slow.patch`)).toContain("+two");
});
