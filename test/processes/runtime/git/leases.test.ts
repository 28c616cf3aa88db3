import { beforeAll, describe, expect, test } from "vitest";
import type { Event } from "../../../../src/index.ts";
import type { Script, ScriptedTurn } from "../../../../src/models/scripted/scripted.ts";
import { deferred } from "../../../../src/runtime/async/deferred.ts";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { shell } from "../../../support/repository.ts";
import { alone, project, runs, text, warnings, write } from "./lab.ts";

/** The tasks that ran at the same time, as pairs of paths. */
function together(events: readonly Event[]): string[] {
  const running = new Set<string>();
  const pairs = new Set<string>();
  for (const event of events) {
    if (event.type === "node.ended") running.delete(event.path);
    if (event.type !== "node.started" || event.kind !== "task") continue;
    for (const other of running) pairs.add([other, event.path].toSorted().join(" "));
    running.add(event.path);
  }
  return [...pairs].toSorted();
}

const bash = (command: string): Script => ({ calls: [{ name: "bash", input: { command } }] });
const slow = (text: string): Script => ({ text, delayMs: 60 });

describe("tasks that declare the files they write", () => {
  test("run one after the other where their files overlap, and in parallel otherwise", async () => {
    const cwd = project();
    // The first one waits for the second: if only one ran at a time, neither would continue.
    const both = deferred<ScriptedTurn>();
    const second = (): Promise<ScriptedTurn> => (both.resolve("done"), both.promise);
    const turns = { worker: [() => both.promise, second, slow("done"), slow("done")] };
    const task = (name: string, writes: string[]) => ({ agent: "worker", task: "Go.", name, writes });
    const tasks = [
      task("a", ["src/**"]),
      task("b", ["src/x.ts"]),
      task("c", ["docs/"]),
      task("d", ["docs/*.md", "src/y"]),
    ];
    const { result, events } = await runs(cwd, turns, { mode: "parallel", tasks });
    expect(result.status).toBe("ok");
    const met = together(events);
    expect(met).toContain("a c");
    expect(met.filter((pair) => ["a b", "a d", "c d"].includes(pair))).toEqual([]);
  });

  test("also wait for each other across the tasks of a team and their helpers, and never for ever", async () => {
    const cwd = project();
    const child = (writes: string[]) => ({ agent: "child", task: "Go.", writes });
    const tools = [
      {
        name: "spread",
        description: "",
        input: { type: "object" },
        effect: "read" as const,
        does: "spawn" as const,
        run: async (_input: unknown, { delegate }: { delegate(what: object): Promise<{ status: string }> }) =>
          (await delegate({ mode: "parallel", tasks: [child(["src/a/**"]), child(["src/**"])] })).status,
      },
    ];
    const members = ["one", "two"].map((role) => ({ role, agent: "lead", task: "Go.", writes: ["src/**"] }));
    const lead: Script = ({ messages }) =>
      messages.at(-1)?.role === "tool" ? "done" : { calls: [{ name: "spread", input: {} }] };
    const turns = { lead: [lead, lead, lead, lead], child: Array.from({ length: 4 }, () => slow("done")) };
    const team = { members, maxConcurrency: 1 };
    const { result, events } = await runs(cwd, turns, { mode: "team", team }, { tools });
    expect(result.status).toBe("ok");
    const met = together(events);
    expect(met.filter((pair) => /^one two$|^one\/\S+ two|^(one|two)\/(\S+) \1\//.test(pair))).toEqual([]);
    expect(events.filter((event) => event.type === "node.started" && event.path.includes("/"))).toHaveLength(4);
  });

  test("may write nothing else, nor may their subagents, and a refusal names the rule", async () => {
    const cwd = project();
    const turns = {
      worker: [
        write("src/new.txt", "x\n"),
        write("a.txt", "two\n"),
        { calls: [{ name: "delete_file", input: { path: "run.sh" } }] },
        "done",
      ],
    };
    const { events } = await runs(cwd, turns, { mode: "single", agent: "worker", task: "Go.", writes: ["src/**"] });
    const denied = events.filter((event) => event.type === "tool.denied");
    expect(denied.map(({ tool, rule }) => `${tool}: ${rule}`)).toEqual([
      "write_file: writes of worker",
      "delete_file: writes of worker",
    ]);
    expect(denied[0]!.text).toContain("worker may only write src/**");
    expect([text(cwd, "src/new.txt"), text(cwd, "a.txt")]).toEqual(["x\n", "one\n"]);
  });

  test("run no commands where no sandbox limits them to the files", async () => {
    const { events } = await runs(
      project(),
      { worker: [bash("echo two > a.txt"), "done"] },
      { mode: "single", agent: "worker", task: "Go.", writes: ["src/**"] },
      { permissions: { mode: "bypass", sandbox: "off" } },
    );
    expect(events.find((event) => event.type === "tool.denied")).toMatchObject({ rule: "writes of worker" });
  });

  test("may change only these files in their worktree, whichever tool writes there", async () => {
    const cwd = project();
    const tools = [
      {
        name: "meddle",
        description: "",
        input: { type: "object" },
        effect: "read" as const,
        run: (_input: unknown, context: { cwd: string }) => shell(context.cwd, "echo two > a.txt"),
      },
    ];
    const turns = { worker: [{ calls: [{ name: "meddle", input: {} }] }, "done"] };
    const { result, events } = await runs(cwd, turns, alone("worker", { writes: ["src/**"] }), { tools });
    expect(result.nodes["worker"]!.changes).toMatchObject({ applied: false });
    expect(warnings(events).at(-1)).toContain("writes of worker");
  });
});

describe("in the sandbox", () => {
  let bwrap: Need;
  beforeAll(async () => {
    bwrap = await needs("bwrap");
  }, needsTimeout);

  test("commands may write folders that the lease covers completely, and no other", async (ctx) => {
    if (bwrap.missing !== undefined) ctx.skip(bwrap.missing);
    const cwd = project("mkdir docs && echo d > docs/d.md && git add . && git commit -qm docs");
    const command = "cp a.txt src/copy.txt; cp a.txt docs/copy.md; cp src/list.txt a.txt; true";
    const input = { mode: "single", agent: "worker", task: "Go.", writes: ["src/**", "docs/*.md"] };
    await runs(cwd, { worker: [bash(command), "done"] }, input, { permissions: { mode: "bypass" } });
    expect(shell(cwd, "git status --porcelain")).toBe("?? src/copy.txt\n");
  });

  test("commands of an isolated task write its worktree, use its git, and write nothing in the checkout", async (ctx) => {
    if (bwrap.missing !== undefined) ctx.skip(bwrap.missing);
    const cwd = project();
    const command = `echo two > a.txt; cp a.txt ${cwd}/leak.txt; git status --porcelain; git commit -qam x; pwd`;
    const { result, events } = await runs(cwd, { worker: [bash(command), "done"] }, alone("worker"), {
      permissions: { mode: "bypass" },
    });
    const said = events.find((event) => event.type === "tool.ended");
    expect(said).toMatchObject({ text: expect.stringMatching(/ M a\.txt[\s\S]*\/worktrees\/run_/) });
    expect(result.nodes["worker"]!.changes).toMatchObject({ applied: true, files: ["a.txt"] });
    expect(
      shell(cwd, "git status --porcelain; git log --oneline | wc -l; git worktree list | wc -l").split(/\s+/),
    ).toEqual(["", "M", "a.txt", "1", "1", ""]);
  });
});
