import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { splitCommandLine } from "../../../../src/runners/foreign/acp.ts";
import { tempFolder } from "../../../support/temp-folder.ts";
import { handTo, type Ran, type Setting, said, told } from "./lab.ts";

const agentFile = join(import.meta.dirname, "acp-agent.mjs");
const command = `acp:"${process.execPath}" "${agentFile}"`;

const weaker = { mode: "default" as const, allowWeaker: true };

/** Lets the agent run these commands, one after the other, in a folder with a file. */
async function does(lines: (cwd: string) => readonly string[], setting: Setting = {}): Promise<Ran> {
  const cwd = tempFolder({ "notes.txt": "the answer is 42\n", ".env": "SECRET=1\n" });
  const { task = {}, permissions = weaker, ...rest } = setting;
  return handTo(command, "/usr/bin", { cwd, permissions, ...rest, task: { ...task, task: lines(cwd).join("\n") } });
}

describe("a task that is given to an ACP agent", () => {
  test("ends with the agent's answer, and has the events of a normal task", async () => {
    const { result, events } = await does(() => [
      "say Hello",
      "cost 0.01",
      "ask read=notes.txt",
      "say Done.",
      "cost 0.03",
    ]);
    expect(result, JSON.stringify(result.fault)).toMatchObject({ status: "ok" });
    expect(result.output).toBe("[read: yes]Done.");
    expect(said(events)).toBe("Hello[read: yes]Done.");
    expect(told(events)).toEqual(["call read read", "result read ok yes"]);
    expect(result.usage).toMatchObject({ turns: 2, contextTokens: 500 });
    expect(result.cost.usd).toBeCloseTo(0.03);
  });

  test("is told that a file does not exist, so that it can create it", async () => {
    const { result } = await does((folder) => [`read ${folder}/new.txt`]);
    expect(result.output).toMatch(/^\[no: Resource not found/);
  });

  test("reads and writes files through our own checks: never outside of the workspace, never denied files", async () => {
    const { result, cwd, events } = await does(
      (folder) => [
        `read ${folder}/notes.txt`,
        `read ${folder}/.env`,
        "read /etc/passwd",
        `write ${folder}/new.txt=made`,
        `write ${folder}/.git/hooks/x=evil`,
        "write /tmp/subcrew-acp-outside=evil",
      ],
      { permissions: { ...weaker, mode: "acceptEdits", deny: ["read_file(.env)"] } },
    );
    expect(said(events)).toMatch(/^\[the answer is 42\]\[no: [^\]]*\]\[no: [^\]]*\]\[written\]\[refused\]\[refused\]$/);
    expect(readFileSync(join(cwd, "new.txt"), "utf8")).toBe("made\n");
    expect([existsSync(join(cwd, ".git")), existsSync("/tmp/subcrew-acp-outside")]).toEqual([false, false]);
    const rules = events.flatMap((event) => (event.type === "tool.denied" ? [event.rule] : []));
    expect(rules).toEqual(["deny read_file(.env)", "outside", "protected .git", "outside"]);
    expect(result.status).toBe("ok");
  });

  test("has its calls judged by the policy, and asks the person where the policy asks", async () => {
    const lines = (): string[] => [
      "ask execute=git push",
      "ask edit=notes.txt",
      "ask fetch=https://example.com/x",
      "ask delete=/etc/passwd",
      "ask think=x",
    ];
    const headless = await does(lines);
    expect(said(headless.events)).toBe("[execute: no][edit: no][fetch: no][delete: no][think: yes]");
    const asked = await does(lines, { answer: (question) => ({ approve: question.includes("git push") }) });
    expect(said(asked.events)).toBe("[execute: yes][edit: no][fetch: no][delete: no][think: yes]");
    expect(asked.questions).toHaveLength(3);
    expect(asked.questions[0]).toMatch(/worker wants to use bash .*git push/s);
    const ruled = await does(lines, {
      permissions: { ...weaker, mode: "acceptEdits", sandbox: "off", allow: ["bash(git push *)"] },
    });
    expect(said(ruled.events)).toContain("[execute: yes][edit: yes][fetch: no][delete: no]");
  });

  test("may change files only if it names them, as paths or as file URIs", async () => {
    const { events } = await does(
      (folder) => [
        "ask edit=",
        "ask delete=",
        "ask edit=file:///etc/cron.d/x",
        "ask edit=FILE:///etc/cron.d/x",
        "ask edit=file://host/etc/cron.d/x",
        `ask edit=file://${folder}/.git/config`,
        `ask edit=file://${folder}/notes.txt`,
        "ask edit=notes.txt",
      ],
      { permissions: { ...weaker, mode: "acceptEdits" } },
    );
    expect(said(events)).toBe("[edit: no][delete: no][edit: no][edit: no][edit: no][edit: no][edit: yes][edit: yes]");
  });

  test.runIf(process.platform === "linux").each([
    ["MEMORY", { maxMemoryMB: 300 }, "globalThis.kept = Buffer.alloc(4e8, 1); setInterval(() => {}, 1000)"],
    ["CPU", { maxCpuSeconds: 3 }, "for (;;);"],
  ])("is stopped when it and its programs reach a limit: %s", async (code, resourceLimits, program) => {
    const lines = (): string[] => [`run ${program}`, "hang"];
    const { result } = await does(lines, { task: { resourceLimits } });
    expect(result).toMatchObject({ status: "failed", fault: { code } });
  });

  test("is refused when the agent has restrictions that the program cannot enforce", async () => {
    for (const setting of [{ permissions: {} }, { permissions: {}, agent: { tools: ["read_file"] } }]) {
      const { result } = await does(() => ["say Hello"], setting);
      expect(result.fault).toMatchObject({
        code: "DENIED",
        message: expect.stringContaining("itself decides when to ask"),
        hint: expect.stringContaining("--allow-weaker"),
      });
    }
    const free = { permissions: { mode: "bypass" as const, sandbox: "off" as const } };
    expect((await does(() => ["say Hello"], free)).result.fault?.message).toContain("write files anywhere");
    const plan = await does(() => ["say Hello", "ask edit=notes.txt"], { permissions: { ...weaker, mode: "plan" } });
    expect([plan.result.status, said(plan.events)]).toEqual(["ok", "Hello[edit: no]"]);
  });

  test("is reported, and goes on, when it passes a time limit that is not enforced", async () => {
    const task = { resourceLimits: { maxDurationMs: 1, enforceLimits: false } };
    const { result, events } = await does(() => ["say Hello"], { task });
    expect(result.output).toBe("Hello");
    expect(events.filter(({ type }) => type === "limit.reached")).toMatchObject([
      { limit: "TIMEOUT", enforced: false },
    ]);
  });

  test("fails with the reason: a crash, a refusal, a missing program, a timeout", async () => {
    const faults = [
      await does(() => ["say Hello", "crash"]),
      await does(() => ["stop refusal"]),
      await does(() => ["stop max_turn_requests"]),
      await does(() => ["hang"], { task: { resourceLimits: { maxDurationMs: 600 } } }),
      await handTo("acp:./agent", "/usr/bin", { permissions: weaker }),
      await handTo("acp:no-such-agent", "/usr/bin", { permissions: weaker }),
      await handTo("acp:true", "/usr/bin", { permissions: weaker }),
    ].map(({ result }) => result.fault);
    expect(faults.map((fault) => fault?.code)).toEqual([
      "CRASHED",
      "MODEL_REFUSED",
      "MAX_TURNS",
      "TIMEOUT",
      "UNSUPPORTED",
      "UNSUPPORTED",
      "CRASHED",
    ]);
    expect(faults[0]!.message).toMatch(/code 9.*out of luck/s);
  });

  test("ends with all its processes, and sees only keys that are passed on", async () => {
    const mark = `mark-${Math.random().toString(36).slice(2)}`;
    const { result, events } = await does(() => ["env ANTHROPIC_API_KEY", "env MARK", "child", "ask think=x", "hang"], {
      passEnv: ["MARK"],
      env: { MARK: mark, ANTHROPIC_API_KEY: "sk-ant-secret", PATH: "/usr/bin:/bin" },
      heard: (event, stop) => (event.type === "tool.ended" ? stop() : undefined),
    });
    expect(result.status).toBe("cancelled");
    expect(said(events)).toContain("ANTHROPIC_API_KEY=undefined");
    const alive = (): string[] =>
      readdirSync("/proc").filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark);
        } catch {
          return false;
        }
      });
    await expect.poll(alive, { timeout: 60_000 }).toEqual([]);
  });
});

test("a command line is split at blanks, except inside of quotes", () => {
  expect(splitCommandLine(`node "/a b/c.mjs" --x='y z' plain`)).toEqual([
    "node",
    "/a b/c.mjs",
    "--x='y",
    "z'",
    "plain",
  ]);
});
