import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shell } from "../../../support/repository.ts";
import { type Place, place, script } from "../../command.ts";

const write = (path: string, content: string): object => ({ name: "write_file", input: { path, content } });

/**
 * A run whose task changed `a.txt`, which the person changed meanwhile, and added a file; with the command that its
 * error suggests.
 */
async function conflict(): Promise<{ there: Place; advice: string; file(name: string): string }> {
  const work = { calls: [write("a.txt", "task\n"), write("sub/new [1].txt", "new\n")] };
  const plan = {
    nodes: {
      "数据 库": {
        kind: "task",
        task: { agent: "general", prompt: "Go.", isolation: "worktree", model: "scripted:turns.json" },
      },
    },
    output: "数据 库",
  };
  const there = place({ "turns.json": script(work, "done"), "plan.json": JSON.stringify(plan), "a.txt": "one\n" });
  shell(there.workspace, "git init -q -b main && git add . && git commit -qm first");
  writeFileSync(join(there.workspace, "a.txt"), "person\n");
  const { code, stderr } = await there.run(["run", "--plan", "plan.json", "--permission-mode", "acceptEdits"]);
  expect(code, stderr).toBe(1);
  const advice = /subcrew (apply '(?:[^']|\n)*')\./.exec(stderr)![1]!;
  return { there, advice, file: (name) => readFileSync(join(there.workspace, name), "utf8") };
}

/** The words of a printed command line. */
const wordsOf = (line: string): string[] =>
  Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!);

test("the `apply` command that the error about a conflict suggests applies the rest, and both versions can be found", async () => {
  const { there, advice, file } = await conflict();
  expect(existsSync(join(there.workspace, "sub"))).toBe(false); // a patch is applied as a whole or not at all
  const applied = await there.run(wordsOf(advice));
  expect(applied.stdout).toMatch(/^applied {3}sub\/new \[1\]\.txt\nconflict {2}a\.txt: patch does not apply\n/);
  expect([applied.code, file("a.txt"), file("sub/new [1].txt")], applied.stderr).toEqual([1, "person\n", "new\n"]);
  expect(applied.stderr).toContain("1 file of 2 conflicted with the workspace");
  const [, compare] = /compare: +(.*)/.exec(applied.stdout)!;
  expect(shell(there.workspace, `${compare} || true`)).toMatch(/-person\n\+task/);
  const again = await there.run([...wordsOf(advice), "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({
    applied: [],
    already: ["sub/new [1].txt"],
    conflicts: [
      { file: "a.txt", workspace: join(there.workspace, "a.txt"), task: expect.stringContaining(".conflict/") },
    ],
  });
  shell(there.workspace, /the task's: (.*)/.exec(applied.stdout)![1]!);
  expect(file("a.txt")).toBe("task\n");
});

test("`apply` with file names applies only these files, also from a subfolder, and refuses wrong names", async () => {
  const { there, advice, file } = await conflict();
  const [command, task] = wordsOf(advice);
  shell(there.workspace, "mkdir sub && git checkout -q a.txt");
  const named = await there.run([command!, task!, "../a.txt"], { cwd: join(there.workspace, "sub") });
  expect([named.code, named.stdout, file("a.txt")], named.stderr).toEqual([0, "applied   a.txt\n", "task\n"]);
  expect(existsSync(join(there.workspace, "sub/new [1].txt"))).toBe(false);
  const wrong = await there.run([command!, task!, "b.txt"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('The task did not change "b.txt".')]);
  const none = await there.run(["apply", `${task!.split("/")[0]}/none`]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('has no task "none"')]);
  const whole = await there.run(["apply", task!.split("/")[0]!]); // the only task with stored changes is used
  expect([whole.code, file("sub/new [1].txt")]).toEqual([0, "new\n"]);
});

test("`apply` does not report changes as missing that were applied at the end of the task", async () => {
  const work = { calls: [{ name: "write_file", input: { path: "new.txt", content: "new\n" } }] };
  const there = place({ "turns.json": script(work, "done"), "a.txt": "one\n" });
  shell(there.workspace, "git init -q -b main && git add . && git commit -qm first");
  const flags = ["--model", "scripted:turns.json", "--isolation", "worktree", "--permission-mode", "acceptEdits"];
  const { stderr } = await there.run(["run", "general", "Go.", ...flags]);
  const id = /run_[a-z0-9]{12}/.exec(stderr)![0];
  for (const word of [id, `${id}/general`]) {
    const { code, stderr: said } = await there.run(["apply", word]);
    expect([code, said]).toEqual([
      2,
      expect.stringContaining(`The changes of "${id}/general" were applied when the task ended`),
    ]);
    expect(said).toContain(`subcrew diff ${id}/general`);
  }
});

test("`apply` applies protected files of a patch only if they are named", async () => {
  const evil = "mkdir -p d x/refs x/objects && ln -s ../.git d/.claude && touch x/refs/a x/objects/a x/HEAD ok.txt";
  const work = { calls: [{ name: "bash", input: { command: `${evil} && cp ok.txt .envrc` } }] };
  const there = place({ "turns.json": script(work, "done"), "a.txt": "one\n" });
  shell(there.workspace, "git init -q -b main && git add . && git commit -qm first");
  const flags = ["--model", "scripted:turns.json", "--isolation", "worktree", "--permission-mode", "bypass"];
  const { stderr } = await there.run(["run", "code", "Go.", ...flags, "--sandbox", "off"]);
  const id = /run_[a-z0-9]{12}/.exec(stderr)![0];
  const { code, stdout } = await there.run(["apply", id, "--json"]);
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { applied: ["ok.txt"], conflicts: [] }]);
  const { left } = JSON.parse(stdout) as { left: object };
  expect(Object.keys(left).toSorted()).toEqual([".envrc", "d/.claude", "x/HEAD", "x/objects/a", "x/refs/a"]);
  expect(shell(there.workspace, "git status --short").trim()).toBe("?? ok.txt");
  const named = await there.run(["apply", id, ".envrc"]);
  expect([named.code, named.stdout]).toEqual([0, "applied   .envrc\n"]);
});

test("`apply` of a run without stored changes is an error", async () => {
  const there = place({ "turns.json": script("done") });
  const { stderr } = await there.run(["run", "general", "Go.", "--model", "scripted:turns.json"]);
  const id = /run_[a-z0-9]{12}/.exec(stderr)![0];
  const { code, stderr: said } = await there.run(["apply", id]);
  expect([code, said]).toEqual([2, expect.stringContaining(`"${id}" has no stored changes to apply.`)]);
});
