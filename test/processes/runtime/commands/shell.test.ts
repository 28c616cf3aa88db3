import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createCrew, defineAgent, type Event } from "../../../../src/index.ts";
import { scripted } from "../../../../src/models/scripted/scripted.ts";
import { EMPTIED } from "../../../../src/runtime/commands/sandbox-args.ts";
import { bearersOf } from "../../../../src/runtime/commands/process-tree.ts";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { call, play } from "../../../support/play.ts";
import { shell } from "../../../support/repository.ts";
import { tempFolder } from "../../../support/temp-folder.ts";

const bash = (command: string, more: object = {}): ReturnType<typeof call> => call("bash", { command, ...more });
const CANARY = "canary-9e2a";

/**
 * A folder that commands in the sandbox can see; the sandbox empties the folders for temporary files. There is none if
 * this project and the user's home folder are below those.
 */
function outsideOfTmp(): { folder: string; isEmptied: boolean } {
  const cache = join(import.meta.dirname, "../../../../.cache");
  mkdirSync(cache, { recursive: true });
  const isEmptied = (path: string): boolean =>
    EMPTIED.some((emptied) => `${realpathSync(path)}/`.startsWith(`${emptied}/`));
  const base = [cache, userInfo().homedir].find((path) => isWritable(path) && !isEmptied(path)) ?? cache;
  const folder = mkdtempSync(join(base, ".subcrew-shell-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, isEmptied: isEmptied(folder) };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

describe("where bubblewrap works", () => {
  let bwrap: Need;
  beforeAll(async () => {
    bwrap = await needs("bwrap");
  }, needsTimeout);
  beforeEach((context) => {
    if (bwrap.missing !== undefined) context.skip(bwrap.missing);
  });

  test("a read-only command needs no approval and runs in the sandbox, whose level is recorded", async () => {
    const cwd = tempFolder({ "a.txt": "hello\n" });
    const { ended, events, questions } = await play([bash("cat a.txt | wc -l; pwd")], { cwd });
    expect(ended).toMatchObject([{ tool: "bash", error: false, text: `1\n${cwd}`, status: "ok" }]);
    expect(questions).toEqual([]);
    expect(events.filter(({ type }) => type === "note")).toMatchObject([
      { text: "sandbox: full (bubblewrap: files, network, processes)" },
    ]);
  });

  test("SBX-13: an allowed command runs in the sandbox, too", async () => {
    const cwd = tempFolder();
    const outside = tempFolder();
    const { ended } = await play(
      [bash(`touch inside; touch ${outside}/x /etc/subcrew-x; ls /proc | grep -c '^[0-9]'`)],
      { cwd, permissions: { mode: "bypass" } },
    );
    expect(readdirSync(cwd)).toEqual(["inside"]);
    expect([readdirSync(outside), existsSync("/etc/subcrew-x")]).toEqual([[], false]);
    expect(ended[0]!.text).toContain("Read-only file system");
  });

  test("the question shows the whole command with its isolation, and exactly that command runs", async () => {
    const command = "touch one\n\u001b]0;x\u0007# \u202e hidden\ntouch two";
    const { questions, cwd } = await play([bash(command)], { answer: () => ({ approve: true }) });
    expect(questions).toEqual([
      "worker wants to use bash (the call runs a program):\n  command:\n    · touch one\n    · \\u{1b}]0;x\\u{7}# \\u{202e} hidden\n    · touch two\nsandbox: full (bubblewrap: files, network, processes)",
    ]);
    expect(readdirSync(cwd).toSorted()).toEqual(["one", "two"]);
  });

  test('the answer "always" applies to exactly this command, character by character', async () => {
    const { questions } = await play([bash("touch a"), bash("touch a"), bash("touch a "), bash("touch a; touch b")], {
      answer: () => ({ approve: true, always: true }),
    });
    expect(questions.length).toBe(3);
  });

  test("SEC-01, SEC-02: no key of the environment and no secret of the home folder reaches a command", async () => {
    const home = tempFolder({ ".ssh/id": CANARY, ".subcrew/trust.json": CANARY, ".config/gh/hosts.yml": CANARY });
    const state = tempFolder({ "runs/x": CANARY });
    const keys = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`SECRET_KEY_${n}`, CANARY]));
    const env = {
      PATH: "/usr/bin:/bin",
      HOME: home,
      LANG: "C",
      ANTHROPIC_API_KEY: CANARY,
      DATABASE_URL: CANARY,
      ...keys,
    };
    const { ended } = await play(
      [
        bash(
          `env; cat ~/.ssh/* ~/.config/gh/* ~/.subcrew/* ${state}/runs/*; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'`,
        ),
      ],
      { env, home: state, permissions: { mode: "bypass" } },
    );
    expect(ended[0]!.text).not.toContain(CANARY);
    const names = [...ended[0]!.text.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    expect(new Set(names)).toEqual(
      new Set(
        ["PATH", "HOME", "LANG", "TMPDIR", "PWD", "SHLVL", "SUBCREW_RUN", "SUBCREW_PARENT", "_"].filter((name) =>
          names.includes(name),
        ),
      ),
    );
  });

  test("PATH-04, SBX-05: files that rules forbid to read are hidden from commands", async () => {
    const cwd = tempFolder({ "secrets/key": CANARY, "sub/my.pem": CANARY, "a.txt": "a" });
    const permissions = { mode: "bypass" as const, deny: ["read_file(secrets/**)", "read_file(*.pem)"] };
    const { ended } = await play(
      [bash("for folder in secrets sub; do cat $folder/*; done; grep -r canary .; ls secrets; cat a.txt")],
      { cwd, permissions },
    );
    expect(ended[0]!.text).not.toContain(CANARY);
    expect(ended[0]!.text).toContain("a");
  });

  test("PATH-04, SBX-05: a hidden file cannot be read by renaming it, nor by declaring it as written", async () => {
    const cwd = tempFolder({ "secrets/deep/key": CANARY, "sub/open/x": "x" });
    const setting = { cwd, permissions: { mode: "bypass" as const, deny: ["read_file(secrets/deep/**)"] } };
    const moved = await play([bash("mv se* other; mv su* sub2"), bash("grep -r canary .; ls")], setting);
    expect(moved.ended[1]!.text).toBe("secrets\nsub2");
    const written = await play([bash("touch secrets/x; grep -r canary . || ls secrets")], {
      ...setting,
      input: { writes: ["secrets/deep/**", "sub2/**"] },
    });
    expect(written.ended[0]!.text).toMatch(/Read-only file system\ndeep$/);
  });

  test("PATH-04, SBX-05: files that rules forbid to read are hidden from a subfolder, from a worktree, and by an absolute path", async () => {
    const { folder, isEmptied } = outsideOfTmp();
    const [cwd, elsewhere] = [join(folder, "work"), join(folder, "elsewhere")];
    for (const each of [cwd, elsewhere, join(cwd, "sub")]) mkdirSync(each);
    for (const file of ["work/.env", "work/key", "elsewhere/key"]) writeFileSync(join(folder, file), CANARY);
    writeFileSync(join(cwd, "sub/a"), "a");
    shell(cwd, "git init -q && git add sub && git commit -qm first");
    const deny = ["read_file(.env)", "grep_files(./key)", `read_file(${elsewhere}/**)`];
    const command = `cd "${folder}"; cat */.en? */ke? || echo hidden`;
    for (const input of [{}, { cwd: "sub" }, { isolation: "worktree" }]) {
      const { ended } = await play([bash(command)], { cwd, input, permissions: { mode: "bypass", deny } });
      expect(ended[0]!.text).toContain("hidden");
      expect(ended[0]!.text).not.toContain(CANARY);
    }
    const { ended } = await play([bash(command)], { cwd, permissions: { mode: "bypass" } });
    // Without the rules a command can read the files. Files beside the workspace are visible unless the sandbox empties
    // their folder.
    expect(ended[0]!.text.split(CANARY)).toHaveLength(isEmptied ? 3 : 4);
  });

  test("PATH-08: a protected file that a command creates is quarantined and reported", async () => {
    const { ended, cwd } = await play(
      [bash("for folder in sub/.vscode .claude; do mkdir -p $folder; echo x > $folder/settings.json; done")],
      { permissions: { mode: "bypass" } },
    );
    expect(ended[0]!.text).toMatch(
      /"sub\/\.vscode" is executed or loaded as configuration later, so it was renamed to "sub\/\.vscode\.refused-[0-9a-f]+"/,
    );
    expect([existsSync(join(cwd, "sub/.vscode")), existsSync(join(cwd, ".claude"))]).toEqual([false, false]);
    const named = await play([bash("mkdir -p .git/hooks; echo x > .git/hooks/x; cat .git/hooks/x")], {
      permissions: { mode: "bypass", allow: ["write_file(.git/**)"] },
    });
    expect(named.ended[0]).toMatchObject({ error: false, text: "x" });
  });

  test("SBX-06: no network unless a rule allows it", async () => {
    const probe = bash("cat /proc/net/dev | wc -l");
    const [without, with_, denied] = await Promise.all([
      play([probe], { permissions: { mode: "bypass" } }),
      play([probe], { permissions: { mode: "bypass", network: true } }),
      play([probe], { permissions: { mode: "bypass", allow: ["network"], deny: ["network"] } }),
    ]);
    expect(without.ended[0]!.text).toBe("3");
    expect(Number(with_.ended[0]!.text)).toBe(readFileSync("/proc/net/dev", "utf8").trim().split("\n").length);
    expect(denied.ended[0]!.text).toBe("3");
  });

  test("a background command prints, is listed, is ended, and no process of it is left when the task ends", async () => {
    // the file `beat` is complete whenever it is read
    const beating = "echo up; while :; do date +%N > next; mv next beat; sleep 0.05; done";
    const { ended, cwd } = await play(
      [
        bash(beating, { background: true }),
        bash("until test -s beat; do sleep 0.02; done; echo beats"),
        call("bash_output", { id: "shell_1" }),
        call("bash_output", {}),
        call("kill_shell", { id: "shell_1" }),
        call("bash_output", { id: "shell_1" }),
        bash("sleep 1000", { background: true }),
      ],
      { permissions: { mode: "bypass" } },
    );
    expect(ended.map(({ text }) => text)).toEqual([
      "Started in the background as shell_1. Read its output with bash_output, stop it with kill_shell.",
      "beats",
      "up\n[the command is still running]",
      `shell_1  running  "${beating}"`,
      "Stopped shell_1.",
      "[the command was stopped before it finished]",
      "Started in the background as shell_2. Read its output with bash_output, stop it with kill_shell.",
    ]);
    const last = readFileSync(join(cwd, "beat"), "utf8");
    await sleep(300);
    expect(readFileSync(join(cwd, "beat"), "utf8")).toBe(last);
  });

  test("TOOL-13: refused, not started, failed, timed out and cancelled commands are distinguished by code, not by text", async () => {
    const cwd = tempFolder();
    const { events } = await play(
      [
        bash("echo DENIED; exit 0"),
        bash("exit 3"),
        bash("sleep 1000", { timeoutMs: 200 }),
        call("bash", { command: "sudo x" }),
      ],
      { cwd, permissions: { allow: ["bash(echo *)", "bash(exit *)", "bash(sleep *)"] } },
    );
    expect(
      events.flatMap((event) =>
        event.type === "tool.ended" ? [event.status] : event.type === "tool.denied" ? ["denied"] : [],
      ),
    ).toEqual(["ok", "failed", "timeout", "denied"]);
  });

  test("PROC-01: a cancelled run leaves no process", async () => {
    const cwd = tempFolder();
    const crew = createCrew({
      cwd,
      home: tempFolder(),
      env: { PATH: "/usr/bin:/bin" },
      discover: false,
      agents: [defineAgent({ name: "worker", description: "works", instructions: "Work." })],
      models: { m: scripted(bash("echo $SUBCREW_RUN > run; sleep 1000 & sleep 1000 & wait"), "done") },
      model: "m",
      permissions: { mode: "bypass" },
    });
    const run = crew.run({ mode: "single", agent: "worker", task: "Go." });
    while (!existsSync(join(cwd, "run")) || readFileSync(join(cwd, "run"), "utf8") === "") await sleep(20);
    const marker = `SUBCREW_RUN=${readFileSync(join(cwd, "run"), "utf8").trim()}`;
    await expect.poll(async () => (await bearersOf(marker)).length, { timeout: 60_000 }).toBeGreaterThan(1);
    run.cancel();
    expect(await run).toMatchObject({ status: "cancelled" });
    await expect.poll(() => bearersOf(marker), { timeout: 60_000 }).toEqual([]);
  });

  test("the long output of a command is cut for the model and stored for the person", async () => {
    const { ended } = await play([bash("seq 1 300000")], { permissions: { mode: "bypass" } });
    const file = /the full output is in (\S+)\]/.exec(ended[0]!.text)?.[1];
    expect(ended[0]!.text.endsWith("299999\n300000")).toBe(true);
    expect(readFileSync(file ?? "", "utf8").split("\n").length).toBe(300_001);
  });
});

describe("where nothing isolates commands", () => {
  /** As if the user had waived bubblewrap, or it were not installed. */
  const off = { permissions: { sandbox: "off" as const } };

  test("SBX-03: without the sandbox, each run reports it, and in an unattended run commands need a rule", async () => {
    const { events, denied, ended } = await play([bash("ls"), bash("echo a")], {
      permissions: { sandbox: "off", allow: ["bash(echo *)"] },
    });
    expect(events.filter(({ type }) => type === "warning")).toMatchObject([
      { code: "SANDBOX", text: "sandbox: off - the sandbox is disabled. Shell commands run with your full rights." },
    ]);
    expect([denied.length, ended.map(({ text }) => text)]).toEqual([1, ["a"]]);
  });

  test("SH-14: interpreters and shells are refused in an unattended run", async () => {
    const { denied } = await play(
      ["python3 -c 1", "node -e 1", "make", "npm run x", "sh x.sh"].map((command) => bash(command)),
      off,
    );
    expect(denied.length).toBe(5);
  });

  test("PROC-04: daemons of a command are gone when the run is over", async () => {
    const { cwd } = await play(
      [
        bash(
          "(setsid sh -c 'touch up; sleep 1000' >/dev/null 2>&1 &); until test -e up; do sleep 0.02; done; echo $SUBCREW_RUN > run",
        ),
      ],
      { permissions: { sandbox: "off", mode: "bypass" } },
    );
    expect(await bearersOf(`SUBCREW_RUN=${readFileSync(join(cwd, "run"), "utf8").trim()}`)).toEqual([]);
  });
});

describe("race with an acceptance command", () => {
  const race = async (
    command: string,
    more: object = {},
  ): Promise<{ status: string; output: string; events: Event[] }> => {
    const crew = createCrew({
      cwd: tempFolder({ "words.txt": "blue\n" }),
      home: tempFolder(),
      env: { PATH: "/usr/bin:/bin" },
      discover: false,
      agents: ["red", "blue"].map((name) =>
        defineAgent({ name, description: name, instructions: "Answer.", model: name }),
      ),
      models: { red: scripted("red"), blue: scripted({ text: "blue", delayMs: 100 }) },
      unattended: true,
      ...more,
    });
    const run = crew.run({ race: { task: "Which?", agents: ["red", "blue"], acceptCommand: command } } as never);
    const events: Event[] = [];
    for await (const event of run) events.push(event);
    const { status, output } = await run;
    return { status, output: output ?? "", events };
  };

  test("the answer is passed on standard input, and only an accepted answer wins", async () => {
    expect(await race("grep -qf words.txt", { permissions: { allow: ["bash(=grep -qf words.txt)"] } })).toMatchObject({
      status: "ok",
      output: "blue",
    });
  });

  test("without an accepted answer there is no winner, and the reason is reported", async () => {
    const { status, events } = await race("echo too dull; exit 1", {
      permissions: { allow: ["bash(=echo too dull; exit 1)"] },
    });
    expect(status).toBe("failed");
    expect(JSON.stringify(events)).toContain("The answer was not accepted: exit code 1: too dull");
  });

  test("the run of a race ends only when the acceptance command of a loser has ended", async () => {
    const cwd = tempFolder({ "words.txt": "blue\n" });
    const command =
      "if grep -qf words.txt; then until test -e run; do sleep 0.02; done; else trap 'sleep 0.4; exit' TERM; echo $SUBCREW_RUN > run; sleep 1000 & wait; fi";
    expect(await race(command, { cwd, permissions: { sandbox: "off", mode: "bypass" } })).toMatchObject({
      status: "ok",
    });
    expect(await bearersOf(`SUBCREW_RUN=${readFileSync(join(cwd, "run"), "utf8").trim()}`)).toEqual([]);
  });

  test("the acceptance command is subject to the policy: without a rule and without a person it is refused", async () => {
    const { status, events } = await race("touch pwned");
    expect(status).toBe("failed");
    expect(events.filter(({ type }) => type === "tool.denied")).toMatchObject([
      { call: "accept", tool: "bash" },
      { call: "accept", tool: "bash" },
    ]);
    expect(JSON.stringify(events)).toContain('"code":"DENIED"');
  });
});

test("SBX-02: where a sandbox is required and not available, nothing starts", async () => {
  const { accessParts, demandSandbox } = await import("../../../../src/runtime/access/crew-access.ts");
  const { probeSandbox } = await import("../../../../src/runtime/commands/probe-sandbox.ts");
  const parts = accessParts({ sandbox: "required" }, { cwd: "/", home: undefined, env: {}, state: "/nowhere" }, []);
  const nowhere = tempFolder();
  await expect(demandSandbox({ ...parts, sandbox: () => probeSandbox([nowhere]) })).rejects.toMatchObject({
    code: "NO_SANDBOX",
    hint: "Needed: apt install bubblewrap. Or relax the requirement with --sandbox auto or --sandbox off.",
  });
  writeFileSync(join(nowhere, "x"), "");
});
