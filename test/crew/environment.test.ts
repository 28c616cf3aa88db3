import { expect, test } from "vitest";
import { type CrewOptions, createCrew, defineAgent } from "../../src/index.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { needs } from "../needs.ts";
import { repository } from "../support/repository.ts";
import { tempFolder } from "../support/temp-folder.ts";

const worker = defineAgent({ name: "worker", description: "d", instructions: "Work.", tools: ["write_file", "bash"] });

/** A crew whose model calls `heard` with the lines of each request about folder, machine, repository and sandbox. */
function crewOf(cwd: string, heard: (lines: string[]) => void, more: CrewOptions = {}) {
  const model = scripted(
    ...Array.from({ length: 6 }, () => (request: ModelRequest) => {
      heard(/^Working folder:[\s\S]*?(?=\n\n|$(?![\s\S]))/m.exec(request.system)?.[0].split("\n") ?? []);
      return request.messages.length === 1
        ? { calls: [{ name: "write_file", input: { path: `${request.messages.length}.txt`, content: "x" } }] }
        : "done";
    }),
  );
  return createCrew({
    cwd,
    home: tempFolder(),
    env: { PATH: process.env["PATH"] },
    discover: false,
    agents: [worker],
    models: { m: model },
    permissions: { mode: "acceptEdits", sandbox: "off" },
    ...more,
  });
}

test("an agent is told its folder, the machine, the repository and the sandbox in four lines, the same for a whole run", async () => {
  const cwd = repository(
    "git checkout -q -b topic",
    "echo 1 > a.txt",
    "git add -A && git commit -qm init",
    "echo 2 > b.txt",
  );
  const seen: string[][] = [];
  let now = Date.UTC(2026, 2, 9, 12);
  const crew = crewOf(
    cwd,
    (lines) => {
      seen.push(lines);
      now += 24 * 3_600_000; // the next turn is a day later
    },
    { clock: () => now },
  );
  const step = { agent: "worker", task: "Go." };
  await crew.run({ mode: "chain", chain: [step, step] });
  expect(seen).toHaveLength(4);
  for (const lines of seen)
    expect(lines).toEqual([
      `Working folder: ${cwd}`,
      `Platform: ${process.platform} ${process.arch}. Date: Mon Mar 09 2026.`,
      "Git at the start: branch topic, 1 changed file.",
      "Sandbox: off, commands run with the full rights of the user.",
    ]);
  seen.length = 0;
  await crew.run({ mode: "single", ...step });
  expect(seen[0]![1]).toContain("Fri Mar 13 2026");
  expect(seen[0]![2]).toBe("Git at the start: branch topic, 2 changed files.");
});

test("a continued conversation keeps the lines of its first run", async () => {
  const cwd = repository("git checkout -q -b topic", "echo 1 > a.txt", "git add -A && git commit -qm init");
  const seen: string[][] = [];
  const crew = crewOf(cwd, (lines) => seen.push(lines));
  const { id } = await crew.run({ mode: "single", agent: "worker", task: "Go." });
  const { plan, continues } = await crew.continuing({ run: id, prompt: "On.", allowFailed: false });
  await crew.run(plan, { continues });
  expect(seen).toHaveLength(3);
  expect(new Set(seen.map((lines) => lines.join("\n"))).size).toBe(1);
});

test("without a repository and without commands the lines say so", async () => {
  const seen: string[][] = [];
  const agents = [defineAgent({ ...worker, tools: ["write_file"] })];
  await crewOf(tempFolder(), (lines) => seen.push(lines), { agents }).run({
    mode: "single",
    agent: "worker",
    task: "x",
  });
  expect(seen[0]!.slice(2)).toEqual([
    "Git at the start: not a repository.",
    "Sandbox: not needed, this task runs no commands.",
  ]);
});

test("the line about the sandbox says what it forbids", async ({ skip }) => {
  const { missing } = await needs("bwrap");
  skip(missing !== undefined, missing);
  const seen: string[][] = [];
  await crewOf(tempFolder(), (lines) => seen.push(lines), { permissions: { mode: "acceptEdits" } }).run({
    mode: "single",
    agent: "worker",
    task: "x",
  });
  expect(seen[0]![3]).toBe(
    "Sandbox: yes, commands write only in the working folder and /tmp, read no secret files and have no network.",
  );
});

test("tool names of Claude Code in the text of an agent's file are connected with the names here", async () => {
  const system: string[] = [];
  const cwd = tempFolder({
    ".claude/agents/finder.md":
      "---\nname: finder\ndescription: d\ntools: Read, Grep, Glob\n---\nUse Grep first, then Read. Start `Bash` never, find nothing else.\n",
  });
  const model = scripted((request: ModelRequest) => {
    system.push(request.system);
    return "done";
  });
  const crew = createCrew({
    cwd,
    home: tempFolder(),
    env: { HOME: tempFolder(), PATH: "" },
    trusted: true,
    models: { m: model },
  });
  await crew.run({ mode: "single", agent: "finder", task: "Go." });
  expect(system[0]).toContain(
    "\n\nIn the instructions above, `Read` is the tool `read_file`, `Grep` is the tool `grep_files`.\n\n",
  );
});
