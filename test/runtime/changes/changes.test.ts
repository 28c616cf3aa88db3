import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCrew, type Crew } from "../../../src/index.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const TOKEN = "token-4711-of-the-environment";

type Call = Readonly<{ tool: string; input: Record<string, unknown> }>;

type Worked = Readonly<{ crew: Crew; id: string; cwd: string; at(name: string): string; read(name: string): string }>;

/** Runs one agent that makes these calls, one after the other, in a folder that `prepare` has filled. */
async function worked(
  calls: readonly Call[],
  prepare: (cwd: string) => void = () => {},
  { cwd = realpathSync(tempFolder()), home = tempFolder() }: Readonly<{ cwd?: string; home?: string }> = {},
): Promise<Worked> {
  prepare(cwd);
  const turns: Script[] = calls.map(({ tool, input }) => ({ calls: [{ name: tool, input }] }));
  const crew = createCrew({
    cwd,
    home,
    discover: false,
    env: { PATH: process.env["PATH"], HOME: tempFolder(), MY_TOKEN: TOKEN },
    models: { m: scripted(...turns, "Done.") },
    permissions: { mode: "bypass", sandbox: "off" },
    agents: [{ name: "m", description: "m", instructions: "Work.", tools: ["*"], model: "m" }],
  });
  const run = crew.run({ mode: "single", agent: "m", task: "Go." });
  const result = await run;
  expect(result.status).toBe("ok");
  const at = (name: string): string => join(cwd, name);
  return { crew, id: run.id, cwd, at, read: (name) => readFileSync(at(name), "utf8") };
}

const write = (path: string, content: string): Call => ({ tool: "write_file", input: { path, content } });
const bash = (command: string): Call => ({ tool: "bash", input: { command } });

function repository(cwd: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
}

const results = (files: readonly Readonly<{ name: string; result: string }>[]): Record<string, string> =>
  Object.fromEntries(files.map(({ name, result }) => [name, result]));

test("a diff shows each file once, from its state before the run to the state after it", async () => {
  const { crew, id } = await worked(
    [
      write("new/deep/a.txt", "one\n"),
      write("b.txt", "x\ny\n"),
      { tool: "edit_file", input: { path: "b.txt", oldText: "x", newText: "z" } },
      { tool: "delete_file", input: { path: "c.txt" } },
      write("same.txt", "other"),
      write("same.txt", "same"),
    ],
    (cwd) => {
      writeFileSync(join(cwd, "b.txt"), "w\ny\n");
      writeFileSync(join(cwd, "c.txt"), "gone\n");
      writeFileSync(join(cwd, "same.txt"), "same");
    },
  );
  const { files } = await crew.changes(id);
  expect(files.map(({ name, how, added, removed }) => ({ name, how, added, removed }))).toEqual([
    { name: "b.txt", how: "changed", added: 1, removed: 1 },
    { name: "c.txt", how: "deleted", added: 0, removed: 1 },
    { name: "new", how: "created", added: 0, removed: 0 },
    { name: "new/deep", how: "created", added: 0, removed: 0 },
    { name: "new/deep/a.txt", how: "created", added: 1, removed: 0 },
  ]);
  expect(files[0]?.diff).toBe("--- b.txt\n+++ b.txt\n@@ -1,2 +1,2 @@\n-w\n+z\n y");
});

test("undo restores content, mode, links, moved and deleted folders, and deletes files that the run created", async () => {
  const { crew, id, cwd, at, read } = await worked(
    [
      write("new/deep/a.txt", "one\n"),
      write("run.sh", "echo 2\n"),
      { tool: "delete_file", input: { path: "tree", recursive: true } },
      { tool: "delete_file", input: { path: "link" } },
      { tool: "move_file", input: { from: "old", to: "moved/here" } },
      { tool: "move_file", input: { from: "from.txt", to: "to.txt", overwrite: true } },
    ],
    (folder) => {
      writeFileSync(join(folder, "run.sh"), "echo 1\n");
      chmodSync(join(folder, "run.sh"), 0o750);
      mkdirSync(join(folder, "tree/empty"), { recursive: true });
      writeFileSync(join(folder, "tree/x.bin"), Buffer.from([0, 255, 1]));
      symlinkSync("run.sh", join(folder, "link"));
      mkdirSync(join(folder, "old"));
      writeFileSync(join(folder, "old/o.txt"), "o");
      writeFileSync(join(folder, "from.txt"), "from");
      writeFileSync(join(folder, "to.txt"), "to");
    },
  );
  expect(read("moved/here/o.txt")).toBe("o");
  const undone = await crew.undo(id);
  expect(undone.filter(({ result }) => result === "refused")).toEqual([]);
  expect(readdirSync(cwd).toSorted()).toEqual(["from.txt", "link", "old", "run.sh", "to.txt", "tree"]);
  expect([read("run.sh"), read("old/o.txt"), read("from.txt"), read("to.txt"), read("link")]).toEqual([
    "echo 1\n",
    "o",
    "from",
    "to",
    "echo 1\n",
  ]);
  expect([...readFileSync(at("tree/x.bin"))]).toEqual([0, 255, 1]);
  expect(existsSync(at("tree/empty"))).toBe(true);
  expect(statSync(at("run.sh")).mode & 0o777).toBe(0o750);
  expect(new Set((await crew.undo(id)).map(({ result }) => result))).toEqual(new Set(["same"]));
});

test("undo refuses a file that was changed since the run, and restores the others", async () => {
  const { crew, id, at, read } = await worked(
    [write("a.txt", "run"), write("b.txt", "run"), write("c.txt", "run"), write("made/d.txt", "run")],
    (cwd) => {
      for (const name of ["a.txt", "b.txt", "c.txt"]) writeFileSync(join(cwd, name), "before");
    },
  );
  writeFileSync(at("a.txt"), "mine");
  rmSync(at("b.txt"));
  writeFileSync(at("made/other.txt"), "mine");
  const dry = await crew.undo(id, { dryRun: true });
  expect(results(dry)).toMatchObject({ "a.txt": "refused", "b.txt": "refused", "c.txt": "restored" });
  expect(read("c.txt")).toBe("run");
  const undone = await crew.undo(id);
  expect(results(undone)).toEqual({
    "a.txt": "refused",
    "b.txt": "refused",
    "c.txt": "restored",
    made: "refused",
    "made/d.txt": "removed",
  });
  expect(undone.map(({ why }) => why).filter(Boolean)).toEqual([
    "the file was changed after the run",
    "the file was deleted after the run",
    "the folder contains files that this run did not create",
  ]);
  expect([read("a.txt"), read("c.txt"), read("made/other.txt")]).toEqual(["mine", "before", "mine"]);
});

test("only the named files are undone, and a name that the run did not change is an error", async () => {
  const { crew, id, read } = await worked([write("a.txt", "run"), write("b.txt", "run")], (cwd) => {
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(cwd, name), "before");
  });
  await crew.undo(id, { files: ["b.txt"] });
  expect([read("a.txt"), read("b.txt")]).toEqual(["run", "before"]);
  await expect(crew.undo(id, { files: ["c.txt"] })).rejects.toMatchObject({
    code: "BAD_INPUT",
    hint: "Files that the run changed: a.txt, b.txt.",
  });
});

test("undo does not follow a folder that became a link", async () => {
  const { crew, id, at } = await worked([write("dir/a.txt", "run")], (cwd) => {
    mkdirSync(join(cwd, "dir"));
    writeFileSync(join(cwd, "dir/a.txt"), "before");
  });
  const elsewhere = tempFolder();
  writeFileSync(join(elsewhere, "a.txt"), "run");
  rmSync(at("dir"), { recursive: true });
  symlinkSync(elsewhere, at("dir"));
  expect(results(await crew.undo(id))).toEqual({ "dir/a.txt": "refused" });
  expect(readFileSync(join(elsewhere, "a.txt"), "utf8")).toBe("run");
});

test("in a repository, changes by commands are recorded and undone, also in uncommitted files", async () => {
  const { crew, id, read, at } = await worked(
    [
      bash("echo new > made.txt; sed -i s/a/b/ clean.txt dirty.txt untracked.txt; rm gone.txt; cat clean.txt"),
      bash("cat clean.txt"),
      bash("git add -A && git -c user.name=t -c user.email=t@example.org commit -qm all && echo more >> clean.txt"),
    ],
    (cwd) => {
      repository(cwd, { "clean.txt": "a\n", "dirty.txt": "a\n", "gone.txt": "gone\n" });
      writeFileSync(join(cwd, "dirty.txt"), "a dirty\n");
      writeFileSync(join(cwd, "untracked.txt"), "a untracked\n");
    },
  );
  const { files, unseen } = await crew.changes(id);
  expect(files.map(({ name, how }) => `${how} ${name}`)).toEqual([
    "changed clean.txt",
    "changed dirty.txt",
    "deleted gone.txt",
    "created made.txt",
    "changed untracked.txt",
  ]);
  expect(unseen).toEqual([]);
  await crew.undo(id);
  expect([read("clean.txt"), read("dirty.txt"), read("gone.txt"), read("untracked.txt")]).toEqual([
    "a\n",
    "a dirty\n",
    "gone\n",
    "a untracked\n",
  ]);
  expect(existsSync(at("made.txt"))).toBe(false);
});

test("outside of a repository the report says that changes of commands are not recorded", async () => {
  const { crew, id } = await worked([bash("echo a > a.txt"), bash("ls")]);
  expect(await crew.changes(id)).toMatchObject({
    files: [],
    unseen: [{ reason: "the folder is not in a git repository", calls: 1 }],
  });
});

test("the changes of a task in a worktree are recorded when they are applied", async () => {
  const cwd = realpathSync(tempFolder());
  repository(cwd, { "a.txt": "before\n" });
  const crew = createCrew({
    cwd,
    home: tempFolder(),
    discover: false,
    env: { PATH: process.env["PATH"], HOME: tempFolder() },
    models: { m: scripted({ calls: [{ name: "write_file", input: { path: "a.txt", content: "after\n" } }] }, "Done.") },
    permissions: { mode: "bypass", sandbox: "off" },
    agents: [{ name: "m", description: "m", instructions: "Work.", tools: ["*"], model: "m" }],
  });
  const run = crew.run({ mode: "single", agent: "m", task: "Go.", isolation: "worktree" });
  await run;
  expect((await crew.changes(run.id)).files).toMatchObject([{ name: "a.txt", how: "changed", tasks: ["m"] }]);
  await crew.undo(run.id);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("before\n");
});

test("a failed call counts as having changed nothing, whatever was recorded before it", async () => {
  const { crew, id, read } = await worked(
    [write("ro/a.txt", "run"), { tool: "edit_file", input: { path: "b.txt", oldText: "none", newText: "x" } }],
    (cwd) => {
      mkdirSync(join(cwd, "ro"));
      writeFileSync(join(cwd, "ro/a.txt"), "before");
      writeFileSync(join(cwd, "b.txt"), "before");
    },
  );
  expect(read("b.txt")).toBe("before");
  expect((await crew.changes(id)).files.map(({ name }) => name)).toEqual(["ro/a.txt"]);
});

/** Everything that was stored about a run, as one text. */
const stored = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name), "utf8")] : []))
    .join("\n");

test("a folder that a command replaces by a link has no files: nothing behind the link is stored, shown or restored", async () => {
  const outside = tempFolder();
  const home = tempFolder();
  writeFileSync(join(outside, "a.txt"), "outside-canary\n");
  const { crew, id, at } = await worked(
    [bash(`mv src kept && ln -s ${outside} src`)],
    (cwd) => {
      mkdirSync(join(cwd, "src"));
      repository(cwd, { "src/a.txt": "inside\n" });
    },
    { home },
  );
  const { files } = await crew.changes(id);
  expect(files.map(({ name, how }) => `${how} ${name}`)).toEqual([
    "created kept/a.txt",
    "created src",
    "deleted src/a.txt",
  ]);
  expect(JSON.stringify(files) + stored(home)).not.toContain("outside-canary");
  await crew.undo(id);
  expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("outside-canary\n");
  expect(readFileSync(at("src/a.txt"), "utf8")).toBe("inside\n");
});

test("a state folder in a repository is no part of the changes, and nothing of it is stored again", async () => {
  const cwd = realpathSync(tempFolder());
  const home = join(cwd, "state");
  mkdirSync(home);
  writeFileSync(join(home, "trust.json"), '{"state-canary":1}');
  const { crew, id } = await worked([bash("echo two > b.txt")], (at) => repository(at, { "a.txt": "one\n" }), {
    cwd,
    home,
  });
  const { files } = await crew.changes(id);
  expect(files.map(({ name, how }) => `${how} ${name}`)).toEqual(["created b.txt"]);
  expect(stored(join(home, "runs"))).not.toContain("state-canary");
});

test("a diff masks known secrets, and undo restores them as they were", async () => {
  const { crew, id, read } = await worked([write("a.txt", `new ${TOKEN}\n`)], (cwd) =>
    writeFileSync(join(cwd, "a.txt"), `old ${TOKEN}\n`),
  );
  const { files } = await crew.changes(id);
  expect(files[0]?.diff).toBe("--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old [redacted]\n+new [redacted]");
  expect(files[0]).toMatchObject({ added: 1, removed: 1 });
  await crew.undo(id);
  expect(read("a.txt")).toBe(`old ${TOKEN}\n`);
});
