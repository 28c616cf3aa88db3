import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Place, place, script } from "../../command.ts";

const agentFile = (name: string, more = ""): string =>
  `---\nname: ${name}\ndescription: About ${name}.\n${more}---\nText of ${name}.\n`;

function inHome({ home }: Place, file: string, text: string): string {
  const path = join(home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A project with its own agent, an invalid one, and one in the home folder that is shadowed by another. */
function project(): Place {
  const there = place({
    ".git/HEAD": "",
    ".claude/agents/critic.md": agentFile("critic", "tools: Read, Grep\nmodel: opus\n"),
    ".claude/agents/broken.md": "no agent at all",
  });
  inHome(there, ".claude/agents/helper.md", agentFile("helper"));
  inHome(there, ".omp/agent/agents/helper.md", agentFile("helper", "model: haiku\n"));
  return there;
}

const rowsOf = (text: string): Record<string, unknown>[] => JSON.parse(text) as Record<string, unknown>[];

describe("subcrew agents", () => {
  test("a known secret in an agent file is masked in every list, text and report", async () => {
    const [key, token] = ["kx7Qm2Zr9TulipField4481", "pw-OrchidMeadow-20931-zt"];
    const there = place({ ".git/HEAD": "" });
    inHome(there, "state/config.yaml", `providers:\n  own: { baseURL: "http://127.0.0.1:9/v1", apiKey: ${token} }\n`);
    const text = `---\nname: leaky\ndescription: Uses ${key} and ${token}.\ntools: [read_file, ${key}]\n---\nLog in with ${key}.\n`;
    const file = inHome(there, ".agents/agents/leaky.md", text);
    inHome(there, ".agents/skills/leak/SKILL.md", `---\nname: leak\ndescription: Uses ${key}.\n---\nText.\n`);
    const commands = [
      ["agents"],
      ["agents", "--json"],
      ["agents", "show", "leaky"],
      ["agents", "show", "leaky", "--raw"],
      ["agents", "show", "leaky", "--json"],
      ["agents", "explain", "leaky"],
      ["agents", "explain", "leaky", "--json"],
      ["agents", "lint", "--all"],
      ["agents", "lint", file, "--format", "json"],
      ["skills"],
    ];
    for (const words of commands) {
      const { stdout, stderr } = await there.run(words, { env: { MY_SERVICE_TOKEN: key } });
      expect(stdout, words.join(" ")).toContain("[redacted]");
      expect(`${stdout}${stderr}`, words.join(" ")).not.toMatch(/kx7Qm2|OrchidMeadow/);
    }
  });

  test("the sign-in of a remote agent is masked in every list, text and report", async () => {
    const there = place({ ".git/HEAD": "" });
    const head = "---\nname: far\ndescription: Uses b0yBlueLantern-22.\n";
    const card = "cardUrl: https://a.example/card?api_key=q9-RiverStone-7";
    inHome(
      there,
      ".subcrew/agents/far.md",
      `${head}remote:\n  ${card}\n  auth: { type: bearer, token: b0yBlueLantern-22 }\n---\n`,
    );
    for (const words of [["agents"], ["agents", "show", "far"], ["agents", "show", "far", "--json"]]) {
      const { stdout } = await there.run(words);
      expect(stdout, words.join(" ")).toContain("Uses [redacted].");
      expect(stdout, words.join(" ")).not.toMatch(/BlueLantern|RiverStone/);
    }
  });

  test("lists agents in columns (in a pipe without colours or truncation), and untrusted agents apart with the next step", async () => {
    const { code, stdout, stderr } = await project().run(["agents"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^helper +user omp +haiku +all +About helper\.$/m);
    expect(stdout).toMatch(/^explore +bundled +- +6 +Finds things out without changing anything\. .*evidence\.$/m);
    expect(stdout).not.toMatch(/^(cli-help|Explore|task) /m);
    expect(stdout).not.toContain("\u001b");
    const [ready = "", untrusted = ""] = stdout.split("\nUntrusted\n");
    expect(ready).not.toContain("critic");
    expect(untrusted).toMatch(/^critic +\S+critic\.md +the project is not trusted\n$/);
    expect(stderr).toContain("1 agent of this project cannot run yet. See `subcrew trust`.");
  });

  test("--all shows the rest with its reason", async () => {
    const there = project();
    const { stdout } = await there.run(["agents", "--all", "--json"]);
    const rows = rowsOf(stdout);
    const of = (state: string): (readonly unknown[])[] =>
      rows.filter((row) => row["state"] === state).map(({ name, reason }) => [name, reason]);
    expect(of("untrusted")).toEqual([["critic", "the project is not trusted"]]);
    expect(of("shadowed")).toContainEqual(["helper", `shadowed by ${there.home}/.omp/agent/agents/helper.md`]);
    expect(of("skipped")).toEqual([["", "The file does not begin with frontmatter."]]);
    expect(of("unlisted")).toContainEqual(["Explore", "an agent of the preset mycode; runs as Explore"]);
    expect(of("unlisted")).toContainEqual(["explore", "an agent of the preset omp; runs as omp:explore"]);
    const text = await there.run(["agents", "--all"]);
    expect(text.stdout).toMatch(/\nUntrusted\ncritic +\S+\.claude\/agents\/critic\.md +the project/);
  });

  test("sources lists every place in order, with the files that were found there", async () => {
    const there = project();
    const { stdout } = await there.run(["agents", "sources", "--json"]);
    const rows = rowsOf(stdout);
    expect(rows.slice(0, 3).map(({ family, scope }) => [family, scope].join(" "))).toEqual([
      "subcrew project",
      "agents project",
      "subcrew user",
    ]);
    expect(rows.filter(({ found }) => found).map(({ family, scope, agents }) => [family, scope, agents])).toEqual([
      ["omp", "user", ["helper"]],
      ["claude", "project", ["critic"]],
      ["claude", "user", ["helper"]],
      ["bundled", "bundled", expect.arrayContaining(["explore", "general"])],
    ]);
    const text = await there.run(["agents", "sources"]);
    expect(text.stdout).toMatch(/^claude +project +\S+\/\.claude\/agents +not trusted: critic$/m);
    expect(text.stdout).toMatch(/^qwen +user +~\/\.qwen\/agents +-$/m);
  });

  test("a preset finds the same agents as its system", async () => {
    const { stdout } = await project().run(["agents", "--preset", "pi-parallel", "--json"]);
    expect(rowsOf(stdout)).toEqual([]);
    const wrong = await project().run(["agents", "--preset", "pie"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
  });

  test.each([
    ["user", ["helper"]],
    ["project", ["critic"]],
    ["both", ["helper", "critic"]],
  ])("--agent-scope %s lists the agents of that scope", async (scope, names) => {
    const { stdout } = await project().run(["agents", "--agent-scope", scope, "--trust", "--json"]);
    const files = rowsOf(stdout).filter(({ source }) => source !== "bundled");
    expect(files.map(({ name }) => name)).toEqual(names);
  });

  test("an unknown subcommand is refused with the nearest subcommand", async () => {
    expect(await project().run(["agents", "explian"])).toMatchObject({
      code: 2,
      stderr: 'subcrew: Unknown command "explian".\n  Did you mean `subcrew agents explain`?\n',
    });
  });
});

describe("one agent", () => {
  test("show prints the definition of an agent, also of an agent that cannot run", async () => {
    const there = project();
    const shown = await there.run(["agents", "show", "critic"]);
    expect(shown.stdout).toBe(
      "---\nname: critic\ndescription: About critic.\ntools: [read_file, grep_files]\nmodel: opus\n---\n\nText of critic.\n",
    );
    expect(shown.stderr).toContain("not trusted");
    const raw = await there.run(["agents", "show", "critic", "--raw"]);
    expect(raw.stdout).toContain("tools: Read, Grep");
    expect(await there.run(["agents", "show", "crtic"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean "critic"?'),
    });
    expect(JSON.parse((await there.run(["agents", "show", "claude:helper", "--json"])).stdout)).toMatchObject({
      state: "shadowed",
    });
  });

  test("hidden characters are shown as escapes", async () => {
    const there = place({ ".agents/agents/x.md": agentFile("x").replace("Text", "Te\u202ext\u200b") });
    expect((await there.run(["agents", "show", "x"])).stdout).toContain("Te<U+202E>xt<U+200B> of x.");
  });

  test("explain prints everything, for people and for programs", async () => {
    const there = project();
    const { stdout } = await there.run([
      "agents",
      "explain",
      "critic",
      "--trust",
      "--model",
      "offline",
      "--max-turns",
      "4",
    ]);
    expect(stdout).toMatch(/^description +About critic\. +\.claude\/agents\/critic\.md:3 \(description\)$/m);
    expect(stdout).toMatch(/^read_file +yes +in the list of tools +\.claude\/agents\/critic\.md:4 \(tools\)$/m);
    expect(stdout).toMatch(/^offline +taken +the call asks for offline$/m);
    expect(stdout).toMatch(/^maxTurns +4 +the call \(--max-turns\)$/m);
    const json = JSON.parse((await there.run(["agents", "explain", "critic", "--json"])).stdout) as Record<
      string,
      unknown
    >;
    expect(Object.keys(json)).toEqual(
      expect.arrayContaining(["name", "state", "fields", "tools", "limits", "model", "others", "problems"]),
    );
  });
});

describe("subcrew agents lint", () => {
  test("names file, line, code and fix, and exits with 1 only for errors", async () => {
    const there = place({
      ".claude/agents/a.md": agentFile("a", "allowedTools: Read\n"),
      ".claude/agents/b.md": "nothing",
    });
    const one = await there.run(["agents", "lint", ".claude/agents/a.md"]);
    expect(one).toMatchObject({ code: 0, stderr: "0 errors, 1 warning in 1 file\n" });
    expect(one.stdout).toMatch(/^\.claude\/agents\/a\.md:4: warning unknown-field: .*\n {4}Did you mean "tools"\?\n$/);
    expect((await there.run(["agents", "lint", ".claude/agents/a.md", "--strict"])).code).toBe(1);
    const all = await there.run(["agents", "lint"]);
    expect(all.code).toBe(1);
    expect(all.stdout).toContain(".claude/agents/b.md: error no-frontmatter");
    expect(await there.run(["agents", "lint", "nowhere"])).toMatchObject({ code: 2, stdout: "" });
  });

  test("prints JSON", async () => {
    const there = place({ ".gemini/agents/a.md": agentFile("a", "nonsense: 1\n") });
    const json = JSON.parse((await there.run(["agents", "lint", ".", "--format", "json"])).stdout) as {
      errors: number;
    };
    expect(json).toMatchObject({ files: 1, errors: 1, warnings: 0 });
  });
});

describe("subcrew agents convert", () => {
  const files = { ".claude/agents/critic.md": agentFile("critic", "tools: Read, Edit\nmaxTurns: 5\nhooks: {}\n") };

  test("writes the other dialect to stdout and the losses to stderr", async () => {
    const { code, stdout, stderr } = await place(files).run([
      "agents",
      "convert",
      ".claude/agents/critic.md",
      "--to",
      "gemini",
    ]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      "---\nkind: local\nname: critic\ndescription: About critic.\ntools: [read_file, replace]\nmax_turns: 5\n---\n\nText of critic.\n",
    );
    expect(stderr).toMatch(/^critic for gemini: 1 dropped, 1 approximated$/m);
    expect(stderr).toMatch(/dropped +hooks/);
  });

  test("into a folder: the file is written where the other tool looks, and no file is overwritten", async () => {
    const there = place(files);
    const args = ["agents", "convert", ".claude/agents/critic.md", "--to", "codex", "--out", "."];
    expect(await there.run(args)).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(there.workspace, ".codex/agents/critic.toml"), "utf8")).toContain('name = "critic"');
    expect((await there.run(args)).code).toBe(2);
  });

  test("--check only reports, --strict makes a loss a failure, --json is for programs", async () => {
    const there = place(files);
    const args = ["agents", "convert", ".claude/agents/critic.md", "--to", "cursor"];
    expect(await there.run([...args, "--check"])).toMatchObject({ code: 0, stdout: "" });
    expect((await there.run([...args, "--check", "--strict"])).code).toBe(1);
    const [row] = rowsOf((await there.run([...args, "--json"])).stdout);
    expect(row).toMatchObject({
      name: "critic",
      to: "cursor",
      path: ".cursor/agents/critic.md",
      text: expect.any(String),
    });
    expect(row!["losses"]).toContainEqual(expect.objectContaining({ field: "limits.maxTurns", kind: "dropped" }));
  });

  test.each([
    ["no dialect", ["agents", "convert", "x.md"], "No target dialect given."],
    ["a typo", ["agents", "convert", "x.md", "--to", "cluade"], 'Did you mean "claude"?'],
    ["no file", ["agents", "convert", "x.md", "--to", "claude"], 'The file "x.md" does not exist.'],
  ])("%s is reported as a mistake of the caller", async (_, args, message) => {
    expect(await place().run(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
  });
});

describe("files and settings of the user", () => {
  test("new creates a valid file, for the project or for the user, and from another agent", async () => {
    const there = place({ ".git/HEAD": "" });
    const { stdout } = await there.run(["agents", "new", "critic", "--cwd", "."]);
    expect(stdout).toBe(`${there.workspace}/.agents/agents/critic.md\n`);
    expect((await there.run(["agents", "lint", ".agents"])).code).toBe(0);
    expect((await there.run(["agents", "new", "critic"])).code).toBe(2);
    await there.run(["agents", "new", "mine", "--user", "--from", "explore"]);
    const shown = JSON.parse((await there.run(["agents", "show", "mine", "--json"])).stdout) as { tools: string[] };
    expect(shown.tools).toHaveLength(6);
    expect((await there.run(["agents", "new", "a/b"])).code).toBe(2);
  });

  test("eject copies a bundled agent without changes, and the copy is used", async () => {
    const there = place({ ".git/HEAD": "" });
    await there.run(["agents", "eject", "reviewer", "--user"]);
    const [row] = rowsOf((await there.run(["agents", "--json"])).stdout).filter(({ name }) => name === "reviewer");
    expect(row).toMatchObject({ source: "user", file: join(there.home, ".agents/agents/reviewer.md") });
    const bundled = await there.run(["agents", "show", "bundled:reviewer"]);
    expect((await there.run(["agents", "show", "reviewer"])).stdout).toBe(bundled.stdout);
  });

  test("disable and enable change one line of the settings and keep the comments", async () => {
    const there = place();
    const file = inHome(there, "state/config.yaml", "# mine\nconcurrency: 3 # three\n");
    await there.run(["agents", "disable", "explore"]);
    expect(readFileSync(file, "utf8")).toBe(
      "# mine\nconcurrency: 3 # three\nagents:\n  explore:\n    enabled: false\n",
    );
    expect(await there.run(["run", "explore", "x", "--model", "offline"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("is disabled"),
    });
    await there.run(["agents", "enable", "explore"]);
    expect(readFileSync(file, "utf8")).toBe("# mine\nconcurrency: 3 # three\n");
    expect((await there.run(["agents", "disable", "nobody"])).code).toBe(2);
  });

  test("invalid settings stop every command with file and line", async () => {
    const there = place();
    const file = inHome(there, "state/config.yaml", "concurrency: 3\nagents:\n  x: { modle: y }\n");
    for (const args of [["agents"], ["run", "explore", "x"], ["skills"]]) {
      const { code, stderr } = await there.run(args);
      expect({ code, first: stderr.split("\n")[0] }).toEqual({
        code: 2,
        first: `subcrew: ${file}:3: "agents.x" of the configuration has an unknown key "modle".`,
      });
    }
  });
});

describe("subcrew trust", () => {
  test("trust lists files, refuses without a terminal, accepts with --yes, and can be revoked", async () => {
    const there = place({
      ".git/HEAD": "",
      ".claude/agents/critic.md": agentFile("critic"),
      "turns.json": script("fine"),
    });
    const run = ["run", "critic", "x", "--model", "scripted:turns.json"];
    expect(await there.run(run)).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("subcrew trust"),
    });
    const look = await there.run(["trust"]);
    expect(look).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("Trusting a project needs a confirmation in a terminal"),
    });
    expect(look.stdout).toMatch(/^ {2}new +agent critic +\.claude\/agents\/critic\.md\n +tools: every tool$/m);
    expect(existsSync(join(there.home, "state/trust.json"))).toBe(false);
    expect((await there.run(["trust", "--yes"])).code).toBe(0);
    expect(await there.run(run)).toMatchObject({ code: 0, stdout: "fine\n" });
    expect((await there.run(["trust", "--list"])).stdout).toContain(`1 files  ${there.workspace}`);
    writeFileSync(join(there.workspace, ".claude/agents/critic.md"), agentFile("critic", "tools: Bash\n"));
    expect((await there.run(run)).code).toBe(3);
    expect(await there.run(["trust", "--json"])).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('"state": "changed"'),
    });
    expect((await there.run(["trust", "--revoke"])).stdout).toBe(`${there.workspace} is no longer trusted\n`);
    expect((await there.run(["trust", "--list"])).stderr).toBe("No project is trusted.\n");
  });

  test("a project with nothing to trust gets a message", async () => {
    expect(await place({ ".git/HEAD": "" }).run(["trust"])).toMatchObject({
      code: 0,
      stderr: "This project has no files that need trust.\n",
    });
  });
});

describe("skills and workflow commands", () => {
  const files = {
    ".git/HEAD": "",
    ".claude/skills/greet/SKILL.md":
      "---\ndescription: Greets.\ncontext: fork\nagent: explore\n---\nSay hello to $ARGUMENTS.\n",
    ".claude/commands/front/go.md": "Run $1 with $@.\n",
  };
  const promptOf = (stdout: string): unknown => {
    const { plan } = JSON.parse(stdout.split("\n")[0]!) as {
      plan: { nodes: Record<string, { task: { agent: string; prompt: string } }> };
    };
    const [node] = Object.values(plan.nodes);
    return [node!.task.agent, node!.task.prompt];
  };

  test("are run by the agent that they name, with their arguments", async () => {
    const there = place({ ...files, "turns.json": script("done") });
    const more = ["--trust", "--model", "scripted:turns.json", "--json"];
    const skill = await there.run(["skill", "greet", "the", "world", ...more]);
    expect(promptOf(skill.stdout)).toEqual(["explore", "Say hello to the world."]);
    const command = await there.run(["command", "front:go", "a b", "$&", ...more]);
    expect(promptOf(command.stdout)).toEqual(["general", "Run a b with a b $&."]);
    const other = await there.run(["command", "front:go", "--agent", "plan", ...more]);
    expect(promptOf(other.stdout)).toEqual(["plan", "Run $1 with ."]);
  });

  test("are listed, and those of an untrusted project are not run", async () => {
    const there = place(files);
    expect((await there.run(["skills", "--trust"])).stdout).toMatch(/^greet +explore +project +Greets\.$/m);
    expect((await there.run(["commands"])).stdout).toMatch(/^init \[what to pay attention to\] +general +bundled /m);
    expect(await there.run(["skill", "greet"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("not trusted"),
    });
    expect(await there.run(["skill", "code-reviw"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean "code-review"?'),
    });
    expect(rowsOf((await there.run(["skills", "--all", "--json"])).stdout)).toContainEqual(
      expect.objectContaining({ name: "greet", state: "untrusted" }),
    );
  });
});
