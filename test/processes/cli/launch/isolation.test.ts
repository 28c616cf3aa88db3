import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { place, script } from "../../command.ts";
import { shell } from "../../../support/repository.ts";

const edits = (file: string, ...then: unknown[]): string =>
  script({ calls: [{ name: "write_file", input: { path: file, content: "two\n" } }] }, ...then);

const repo = (turns: string) => {
  const there = place({ "turns.json": turns, "a.txt": "one\n" });
  shell(there.workspace, "git init -q -b main && git add . && git commit -qm first");
  return there;
};
const args = [
  "run",
  "general",
  "Go.",
  "--model",
  "scripted:turns.json",
  "--permission-mode",
  "acceptEdits",
  "--isolation",
  "worktree",
];
const worktrees = (cwd: string): number => shell(cwd, "git worktree list").trim().split("\n").length;
const idIn = (text: string): string => /run_[a-z0-9]{12}/.exec(text)![0];

test.each(["local", "process", "thread"])(
  "the command isolates a task that runs in %s, and reports its changes",
  async (runner) => {
    const there = repo(edits("a.txt", "done"));
    const { code, stdout, stderr } = await there.run([...args, "--runner", runner]);
    expect({ code, stdout: stdout.trim() }, stderr).toEqual({ code: 0, stdout: "done" });
    expect(stderr).toMatch(/changes of "general" to 1 file \(a\.txt\) were applied/);
    expect(shell(there.workspace, "cat a.txt")).toBe("two\n");
    expect(worktrees(there.workspace)).toBe(1);
  },
);

test("new files outside of the folders of a sparse checkout are applied, and missing files are not deleted", async () => {
  const calls = ["in/a.txt", "out/new.txt"].map((path) => ({ name: "write_file", input: { path, content: "two\n" } }));
  const there = place({ "turns.json": script({ calls }, "done"), "in/a.txt": "one\n", "out/b.txt": "one\n" });
  shell(
    there.workspace,
    "git init -q -b main && git add . && git commit -qm first && git sparse-checkout set --cone in",
  );
  const { code, stderr } = await there.run(args);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/to 2 files \(in\/a\.txt, out\/new\.txt\) were applied/);
  expect(shell(there.workspace, "cat in/a.txt out/new.txt; git ls-files --deleted")).toBe("two\ntwo\n");
});

test("a resumed run continues in the worktree of the killed run and removes it", async () => {
  const slow = { calls: [{ name: "write_file", input: { path: "b.txt", content: "b\n" } }], delayMs: 600_000 };
  const there = repo(edits("a.txt", slow, "done"));
  const { child, until, ended } = there.start([...args, "--json"]);
  await until(/"tool\.ended"/);
  child.kill("SIGKILL");
  const id = idIn((await ended).stdout);
  expect(worktrees(there.workspace)).toBe(2);
  expect(shell(there.workspace, "cat a.txt")).toBe("one\n");
  const quick = edits("never.txt", { calls: slow.calls }, "done");
  shell(there.workspace, `cat > turns.json <<'X'\n${quick}\nX`);
  const { code, stderr } = await there.run(["resume", id], { env: { SUBCREW_PERMISSIONS_MODE: "acceptEdits" } });
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/to 2 files \(a\.txt, b\.txt\) were applied/);
  expect(worktrees(there.workspace)).toBe(1);
});

test("the worktree of a run that is never resumed is deleted with the run", async () => {
  const there = repo(edits("a.txt", { text: "late", delayMs: 600_000 }));
  const { child, until, ended } = there.start([...args, "--json"]);
  await until(/"tool\.ended"/);
  child.kill("SIGKILL");
  await ended;
  expect(worktrees(there.workspace)).toBe(2);
  const { code, stdout } = await there.run(["gc", "--older-than", "1ms", "--unfinished", "--yes"]);
  expect([code, /1 run deleted/.test(stdout)]).toEqual([0, true]);
  expect(worktrees(there.workspace)).toBe(1);
  expect(readdirSync(join(there.workspace, ".git"))).not.toContain("worktrees");
});

test("invalid values of the isolation flags are refused, and valid ones apply to every task of a plan", async () => {
  const { code } = await place().run(["run", "general", "Go.", "--isolation", "moon"]);
  expect(code).toBe(2);
  const { stdout } = await place().run([
    "plan",
    "parallel",
    "general=x",
    "explore=y",
    "--isolation",
    "worktree",
    "--isolation-dirty",
    "--isolation-keep",
    "--writes",
    "src/**,docs/",
  ]);
  const { nodes } = JSON.parse(stdout) as { nodes: Record<string, { task?: object }> };
  const said = { isolation: "worktree", isolationDirty: true, isolationKeep: true, writes: ["src/**", "docs/"] };
  for (const name of ["general", "explore"]) expect(nodes[name]?.task).toMatchObject(said);
});
