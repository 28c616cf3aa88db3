import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { namedRunners } from "../../../../src/core/vocabulary/runner-name.ts";
import { runners } from "../../../../src/runners/table.ts";
import { tempFolder } from "../../../support/temp-folder.ts";
import { fake, handTo, type Step, said, told } from "./lab.ts";
import { transcripts } from "./transcripts.ts";

const looking = { tools: ["read_file", "glob", "grep_files", "list_files"] };
/** An agent whose restrictions each tool can enforce. */
const fits = (tool: string): object => (tool === "codex" ? {} : looking);

const keys = {
  ANTHROPIC_API_KEY: "a",
  OPENAI_API_KEY: "o",
  GEMINI_API_KEY: "g",
  GH_TOKEN: "h",
  AWS_SECRET_ACCESS_KEY: "s",
};
const many = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"];
const own: Readonly<Record<string, readonly string[]>> = {
  claude: ["ANTHROPIC_API_KEY"],
  codex: ["OPENAI_API_KEY"],
  gemini: ["GEMINI_API_KEY"],
  copilot: ["GH_TOKEN"],
  opencode: many,
  pi: many,
};

const programs = namedRunners.filter((name) => runners[name].program !== undefined);

describe.each(programs)("a task that is given to %s", (tool) => {
  test("returns its answer, emits events like our own runner, and sees only its own keys", async () => {
    const { bin, called } = fake(tool, transcripts[tool]!);
    const { result, events } = await handTo(tool, bin, { agent: fits(tool), env: { ...keys, LANG: "C" } });
    expect(result, JSON.stringify(result.fault)).toMatchObject({ status: "ok", output: "It is 42." });
    expect(said(events)).toBe("Let me look.It is 42.");
    expect(told(events)).toEqual([
      expect.stringMatching(tool === "codex" ? /^call bash write$/ : /^call (Read|read_file|read|view) read$/),
      expect.stringMatching(/^result \w+ ok the answer is 42$/),
    ]);
    const usage = { input: tool === "copilot" ? 0 : 200, output: tool === "copilot" ? 0 : 40 };
    expect(result.usage).toMatchObject({ ...usage, turns: tool === "codex" ? 1 : 2 });
    const priced: Record<string, number> = { claude: 0.0012, opencode: 0.0012, pi: 0.0012 };
    expect(result.cost.usd).toBeCloseTo(priced[tool] ?? 0);
    expect(result.cost.unpriced > 0).toBe(priced[tool] === undefined);

    const { env, cwd, input } = called();
    expect(Object.keys(keys).filter((name) => env[name] !== undefined)).toEqual(own[tool]);
    expect([env["LANG"], existsSync(join(cwd, "notes.txt"))]).toEqual(["C", true]);
    expect(input).toContain("What is in notes.txt?");
  });

  test("that is not installed fails with the command that installs it", async () => {
    const { result } = await handTo(tool, tempFolder(), { agent: fits(tool) });
    expect(result.fault).toMatchObject({
      code: "UNSUPPORTED",
      message: expect.stringContaining("was not found"),
      hint: expect.stringMatching(/npm install -g .* outside of the working folder/),
    });
  });
});

describe("subcrew's rules in the settings of each tool", () => {
  const argsFor = async (tool: string, setting: Parameters<typeof handTo>[2] = {}) => {
    const { bin, called } = fake(tool, transcripts[tool]!);
    const { result } = await handTo(tool, bin, setting);
    expect(result.status, JSON.stringify(result.fault)).toBe("ok");
    return called();
  };
  const editing = {
    permissions: { mode: "acceptEdits" as const },
    agent: { tools: [...looking.tools, "write_file", "edit_file"] },
  };

  test("Claude Code: a list of tools, and rules for paths and commands", async () => {
    const settingsOf = (args: readonly string[]): unknown =>
      (JSON.parse(args.find((word) => word.startsWith("--settings="))!.slice(11)) as { permissions: unknown })
        .permissions;
    const reader = await argsFor("claude", { agent: looking, task: { model: "anthropic/claude-sonnet-5" } });
    expect(reader.args).toEqual(
      expect.arrayContaining([
        "--print",
        "--permission-mode=dontAsk",
        "--tools=Read,Glob,Grep",
        "--model=claude-sonnet-5",
        "--setting-sources=",
        "--strict-mcp-config",
      ]),
    );
    expect(settingsOf(reader.args)).toEqual({ allow: ["Read(./**)", "Read(./**)", "Read(./**)"], deny: [] });
    const rules = { allow: ["bash(git log *)", "write_file(docs/**)"], deny: ["read_file(.env)", "bash(rm *)"] };
    const loose = { mode: "default" as const, sandbox: "off" as const };
    const narrow = await argsFor("claude", { permissions: { ...loose, ...rules, allowWeaker: true } });
    expect(narrow.args).toContain("--tools=Read,Glob,Grep,Write,Bash");
    expect(settingsOf(narrow.args)).toMatchObject({
      allow: expect.arrayContaining(["Bash(git log:*)", "Edit(./docs/**)"]),
      deny: expect.arrayContaining(["Read(**/.env)", "Bash(rm:*)"]),
    });
    const web = await argsFor("claude", {
      permissions: { ...loose, allow: ["http_get"], deny: ["http_get(https://*.evil.example/*)", "read_file(.env)"] },
    });
    expect(settingsOf(web.args)).toMatchObject({ deny: expect.arrayContaining(["WebFetch", "Read(**/.env)"]) });
    const hosts = ["https://docs.example/*", "https://other.example/api/*", "https://*.third.example/*"];
    const reading = await argsFor("claude", {
      permissions: { ...loose, allow: hosts.map((host) => `http_get(${host})`) },
    });
    expect(settingsOf(reading.args)).toMatchObject({
      allow: expect.not.arrayContaining(["WebFetch(domain:other.example)"]),
    });
    expect(JSON.stringify(settingsOf(reading.args))).toContain("WebFetch(domain:docs.example)");
    expect(JSON.stringify(settingsOf(reading.args))).not.toMatch(/other|third/);
  });

  test.for<[string, string, string]>([
    ["a rule about commands", "bash(rm *)", "the program cannot enforce the rule against bash(rm *)"],
    [
      "a rule about files beside commands",
      "read_file(.env)",
      "its shell commands do not follow the rule against read_file(.env)",
    ],
  ])("Claude Code is refused for %s, which it does not enforce", async ([, rule, text]) => {
    const { bin } = fake("claude", transcripts["claude"]!);
    const permissions = { mode: "default" as const, sandbox: "off" as const, allow: ["bash"], deny: [rule] };
    const { result } = await handTo("claude", bin, { permissions });
    expect(result.fault).toMatchObject({ code: "DENIED", message: expect.stringContaining(text) });
  });

  test("Codex: a read-only sandbox, or one that may write the workspace", async () => {
    expect((await argsFor("codex")).args).toEqual(
      expect.arrayContaining(["--sandbox=read-only", 'approval_policy="never"', 'web_search="disabled"']),
    );
    expect((await argsFor("codex", { permissions: { mode: "acceptEdits" } })).args).toContain(
      "--sandbox=workspace-write",
    );
  });

  test("Gemini CLI: each tool in a policy that the project cannot override", async () => {
    const { rules } = await argsFor("gemini", editing);
    const [allow = "", deny = ""] = rules.split("\n\n");
    expect(allow).toMatch(/"read_file".*"write_file","replace"\]\ndecision = "allow"/);
    expect(deny).toMatch(/"run_shell_command".*"google_web_search".*decision = "deny"/s);
  });

  test("opencode: everything is denied except the named tools", async () => {
    const { env } = await argsFor("opencode", editing);
    const { permission } = JSON.parse(env["OPENCODE_CONFIG_CONTENT"]!) as { permission: Record<string, string> };
    expect(permission).toMatchObject({
      "*": "deny",
      read: "allow",
      edit: "allow",
      bash: "deny",
      webfetch: "deny",
      external_directory: "deny",
    });
    expect(Object.keys(permission)[0]).toBe("*");
  });

  test("Copilot CLI and pi: only these tools", async () => {
    const copilot = await argsFor("copilot", editing);
    expect(copilot.args).toEqual(
      expect.arrayContaining([
        "--available-tools=view,glob,grep,rg,create,edit,apply_patch",
        "--allow-tool=write",
        "--disallow-temp-dir",
      ]),
    );
    expect((await argsFor("copilot", { agent: { tools: [] } })).args).toContain("--available-tools=none");
    const pi = await argsFor("pi", { agent: looking });
    expect(pi.args.slice(pi.args.indexOf("--tools"), pi.args.indexOf("--tools") + 2)).toEqual([
      "--tools",
      "read,ls,find,grep",
    ]);
    expect((await argsFor("pi", { agent: { tools: [] } })).args).toContain("--no-tools");
  });

  test("pi: instructions that are the name of a file stay text", async () => {
    const instructions = "/etc/passwd";
    const { args, rules } = await argsFor("pi", { agent: { ...looking, instructions } });
    expect(args).not.toContain(instructions);
    expect(rules).toContain(instructions);
  });
});

describe("a restriction that a tool cannot enforce", () => {
  const bypass = { permissions: { mode: "bypass" as const } };
  test.each<[tool: string, what: string, setting: Parameters<typeof handTo>[2], why: RegExp]>([
    ["codex", "an agent without commands", { agent: looking }, /reads files by running commands/],
    ["claude", "commands in the sandbox", bypass, /commands run outside of the sandbox/],
    ["pi", "writing only in the workspace", { permissions: { mode: "acceptEdits" } }, /write files anywhere/],
    [
      "gemini",
      "a rule about arguments",
      { permissions: { deny: ["read_file(.env)"] } },
      /rule against read_file\(\.env\)/,
    ],
    [
      "claude",
      "patterns in the agent's own list",
      { agent: { tools: ["read_file", "bash(git log *)"] } },
      /tools of worker/,
    ],
    [
      "claude",
      "the files that the task declares to write",
      { permissions: { mode: "acceptEdits" }, task: { writes: ["src/**"] } },
      /list of files that worker may write/,
    ],
  ])("%s, %s: refused with the reason, and run with a warning when that is accepted", async (tool, _, setting, why) => {
    const { bin, called } = fake(tool, transcripts[tool]!);
    const refused = await handTo(tool, bin, setting);
    expect(refused.result.fault).toMatchObject({
      code: "DENIED",
      message: expect.stringMatching(why),
      hint: expect.stringContaining("--allow-weaker"),
    });
    expect(called).toThrow();
    const accepted = await handTo(tool, bin, {
      ...setting,
      permissions: { ...setting!.permissions, allowWeaker: true },
    });
    expect(accepted.result.status).toBe("ok");
    expect(accepted.events).toContainEqual(
      expect.objectContaining({ type: "warning", code: "WEAKER", text: expect.stringMatching(why) }),
    );
  });
});

test.each([
  ["gemini", ".gemini/settings.json"],
  ["opencode", "opencode.json"],
])("%s is refused in a project whose own %s it would load, also from a subfolder", async (tool, file) => {
  const cwd = tempFolder({ [file]: "{}", ".git/HEAD": "", "sub/notes.txt": "" });
  for (const folder of [cwd, join(cwd, "sub")]) {
    const { result } = await handTo(tool, fake(tool, transcripts[tool]!).bin, { agent: looking, cwd: folder });
    expect(result.fault).toMatchObject({
      code: "DENIED",
      message: expect.stringContaining(`the program reads ${file} of the project`),
    });
  }
});

describe("a tool that misbehaves", () => {
  const agent = looking;

  test("is found neither in the workspace nor by a relative path", async () => {
    const { bin } = fake("claude", transcripts["claude"]!);
    const { result } = await handTo("claude", tempFolder(), {
      agent,
      cwd: bin,
      env: { PATH: `${bin}:.:/usr/bin:/bin` },
    });
    expect(result.fault).toMatchObject({ code: "UNSUPPORTED" });
  });

  test.each<[how: string, steps: Step[], fault: object]>([
    [
      "exits with a code and a message",
      [{ say: "no such model" }, { exit: 3 }],
      { code: "CRASHED", message: expect.stringMatching(/exited with code 3: .*no such model/s) },
    ],
    [
      "reports that it failed",
      [{ line: { type: "result", subtype: "error_during_execution", is_error: true, result: "overloaded" } }],
      { code: "AGENT_REPORTED", message: "claude says: overloaded" },
    ],
    [
      "stopped at its own limit",
      [{ line: { type: "result", subtype: "error_max_turns", is_error: true } }],
      { code: "MAX_TURNS" },
    ],
    ["prints nothing", [], { code: "EMPTY" }],
    ["prints text that is not JSON", [{ line: "hello\n{broken\n" }], { code: "EMPTY" }],
  ])("%s", async (_, steps, fault) => {
    const { result } = await handTo("claude", fake("claude", steps).bin, { agent });
    expect(result).toMatchObject({ status: "failed", fault });
  });

  const refused: Step = {
    line: { type: "result", subtype: "success", is_error: true, result: "API Error: 529 overloaded_error" },
  };

  test("parks its task when it reports an error of its model provider, and the task starts again later", async () => {
    const { bin } = fake("claude", [refused]);
    const { result, events } = await handTo("claude", bin, {
      agent,
      run: { onProviderFault: "park" },
      heard: ({ type }) => {
        if (type === "node.parked")
          writeFileSync(join(bin, "claude.script.json"), JSON.stringify(transcripts["claude"]));
      },
    });
    expect(result).toMatchObject({ status: "ok", output: "It is 42." });
    expect(events.filter(({ type }) => type.endsWith("parked"))).toMatchObject([
      { type: "node.parked", waitsFor: "provider", why: "claude says: API Error: 529 overloaded_error" },
      { type: "node.unparked" },
    ]);
  });

  test.each([
    ["in a run that does not park", [refused], "fail"],
    ["after it has used a tool", [...transcripts["claude"]!.slice(0, 8), refused], "park"],
  ] as const)("fails its task when it reports an error of its model provider %s", async (_, steps, onProviderFault) => {
    const { result, events } = await handTo("claude", fake("claude", steps).bin, { agent, run: { onProviderFault } });
    expect(result).toMatchObject({ status: "failed", fault: { code: "AGENT_REPORTED" } });
    expect(events.some(({ type }) => type === "node.parked")).toBe(false);
  });

  test("is ended with all its processes when it is cancelled, and at its timeout", async () => {
    const mark = `mark-${Math.random().toString(36).slice(2)}`;
    const alive = (): string[] =>
      readdirSync("/proc").filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark);
        } catch {
          return false;
        }
      });
    const begins = transcripts["claude"]!.slice(0, 3);
    const { bin } = fake("claude", [...begins, { child: true }, { hang: true }]);
    const common = { agent, passEnv: ["MARK"], env: { MARK: mark, PATH: `${bin}:/usr/bin:/bin` } };
    const stopped = await handTo("claude", bin, {
      ...common,
      heard: (event, stop) => (event.type === "text.delta" ? stop() : undefined),
    });
    expect(stopped.result).toMatchObject({ status: "cancelled", nodes: { worker: { output: "Let me look." } } });
    const late = await handTo("claude", bin, { ...common, task: { resourceLimits: { maxDurationMs: 700 } } });
    expect(late.result.fault).toMatchObject({ code: "TIMEOUT" });
    if (process.platform === "linux") await expect.poll(alive, { timeout: 60_000 }).toEqual([]);
  });

  test("is reported, and goes on, when it passes a time limit that is not enforced", async () => {
    const { bin } = fake("claude", transcripts["claude"]!);
    const task = { resourceLimits: { maxDurationMs: 1, enforceLimits: false } };
    const { result, events } = await handTo("claude", bin, { agent, task });
    expect(result.status).toBe("ok");
    expect(events.filter(({ type }) => type === "limit.reached")).toMatchObject([
      { limit: "TIMEOUT", enforced: false },
    ]);
  });

  test("is stopped when it exceeds its maximum of turns", async () => {
    const { bin } = fake("opencode", [...transcripts["opencode"]!, ...transcripts["opencode"]!, { hang: true }]);
    const { result } = await handTo("opencode", bin, { agent, task: { resourceLimits: { maxTurns: 2 } } });
    expect(result.fault).toMatchObject({ code: "MAX_TURNS" });
  });

  test("answers with data of the requested schema, or has failed", async () => {
    const schema = { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] };
    const answering = (text: string): Step[] => [
      { line: { type: "text", part: { text } } },
      { line: { type: "step_finish", part: { cost: 0 } } },
    ];
    const good = fake("opencode", answering('{"answer": 42}'));
    const { result } = await handTo("opencode", good.bin, { agent, task: { schema } });
    expect(result).toMatchObject({ status: "ok", data: { answer: 42 } });
    expect(good.called().input).toContain('"required":["answer"]');
    const bad = await handTo("opencode", fake("opencode", answering("forty-two")).bin, { agent, task: { schema } });
    expect(bad.result.fault).toMatchObject({ code: "INVALID_OUTPUT" });
  });
});

test("changes of a tool in a worktree are applied like those of subcrew", async () => {
  const { repository } = await import("../../../support/repository.ts");
  const cwd = repository("echo one > a.txt && git add . && git commit -qm first");
  const { bin } = fake("claude", [{ write: "a.txt", text: "two\n" }, ...transcripts["claude"]!]);
  const { result } = await handTo("claude", bin, {
    cwd,
    agent: { tools: ["read_file", "write_file", "edit_file"] },
    permissions: { mode: "acceptEdits" },
    task: { isolation: "worktree", writes: ["a.txt"] },
  });
  expect(result.nodes["worker"]!.changes).toMatchObject({ applied: true, files: ["a.txt"] });
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("two\n");
});
