import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { bundled } from "../../../test/support/bundled.ts";
import { host, room, run, said, withSandbox } from "../../../test/support/shell-room.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { safePath } from "./commands.ts";
import { bearersOf } from "./process-tree.ts";
import type { SandboxLevel } from "./probe-sandbox.ts";

const nothing: SandboxLevel = { level: "none", text: "sandbox: none" };
/** For tests whose time depends on the speed of the machine. */
const patient = { timeout: 120_000 };

/** The processes of a command that wrote its marker into this folder. */
const withMarkerIn = (folder: string): Promise<readonly number[]> =>
  bearersOf(`SUBCREW_RUN=${readFileSync(join(folder, "marker"), "utf8").trim()}`);

describe("in the sandbox", () => {
  const full = withSandbox();

  test("a command works in the workspace and says how it ended", async () => {
    const place = room();
    const commands = host(place, full());
    expect(commands.commands.state).toEqual({ sandboxed: true, waived: false, roots: [place.ws] });
    expect(await run(commands, "cat a.txt; echo b > b.txt; pwd; exit 4")).toEqual({
      ended: "exited",
      code: 4,
      text: `a${place.ws}\n`,
      cutBytes: 0,
    });
    expect(readFileSync(join(place.ws, "b.txt"), "utf8")).toBe("b\n");
    expect(await run(commands, "cat", { input: "given" })).toMatchObject({ ended: "exited", text: "given" });
    expect(await run(commands, "kill -9 $$")).toMatchObject({ ended: "exited", code: 137 });
  });

  test("PROC-01, PROC-02: a command that is cancelled or times out ends with all its processes, and the result names the cause", async () => {
    const commands = host(room(), full());
    const controller = new AbortController();
    const cancelled = commands.commands.run("sleep 1000 & sleep 1001 & echo ready; wait", {
      timeoutMs: 200_000,
      signal: controller.signal,
      report: () => controller.abort({ stop: "enough" }),
    });
    expect(await cancelled).toMatchObject({ ended: "cancelled" });
    expect(await run(commands, "trap '' TERM; while :; do sleep 0.1; done", { timeoutMs: 100 })).toMatchObject({
      ended: "timeout",
    });
  });

  test("a command that is cancelled, or whose task ends, while its sandbox is prepared does not start", async () => {
    const place = room();
    const before = readdirSync(place.ws);
    const commands = host(place, full());
    const controller = new AbortController();
    const cancelled = run(commands, "touch one.txt", { signal: controller.signal });
    controller.abort({ stop: "enough" });
    expect(await cancelled).toEqual({ ended: "cancelled", text: "", cutBytes: 0 });
    const late = commands.commands.start("touch two.txt");
    await Promise.all([expect(late).rejects.toThrow("the task is ending"), commands.end()]);
    expect(readdirSync(place.ws)).toEqual(before);
  });

  test("a command in the sandbox has time to handle SIGTERM", async () => {
    const commands = host(room(), full());
    const shell = await commands.commands.start(
      "trap 'echo tidied; exit 7' TERM; echo ready; while :; do sleep 0.05; done",
    );
    while (!shell.news().includes("ready")) await sleep(10);
    await shell.kill();
    expect(shell.result()).toMatchObject({ ended: "cancelled", code: 7 });
    expect(shell.result()?.text).toContain("tidied");
  });

  test("PROC-04, PROC-10: processes that a command leaves behind are killed", async () => {
    const place = room();
    const command =
      'echo $SUBCREW_RUN > marker; (setsid sh -c "while :; do touch beat; sleep 0.02; done" &); (sleep 1000 &); until test -e beat; do sleep 0.02; done; echo done';
    expect(await run(host(place, full()), command)).toMatchObject({ ended: "exited", code: 0, text: "done\n" });
    expect(await withMarkerIn(place.ws)).toEqual([]);
  });

  test.each([
    ["", (bwrap: string) => `exec ${bwrap} "$@"`],
    [
      ", also before it is bound to us",
      (bwrap: string) => `exec 3< <(grep -zvxF -e --die-with-parent <&3); exec ${bwrap} "$@"`,
    ],
  ])("PROC-03: when this process is killed, nothing keeps running in the sandbox%s", async (_, lines) => {
    const place = room();
    const bwrap = join(place.all, "bwrap");
    writeFileSync(bwrap, `#!/bin/bash\n${lines(full().bwrap!)}\n`, { mode: 0o755 });
    const program = bundled(
      place.all,
      `import { createShellCommands } from "./src/runtime/commands/commands.ts"; import { InFlight } from "./src/runtime/commands/in-flight.ts";
       const { commands } = createShellCommands({ name: "orphans-${process.pid}", cwd: ${JSON.stringify(place.ws)}, writable: [${JSON.stringify(place.ws)}], wish: "auto", sandbox: ${JSON.stringify({ ...full(), bwrap })},
         network: () => false, inFlight: new InFlight(), rootAt: (root: string) => ({ root, place: "", named: "", homes: [] }), allow: () => [], homes: [], hidden: async () => [], env: () => ({ PATH: "/usr/bin:/bin" }) });
       await commands.start("trap '' TERM HUP; setsid sleep 1000 & echo $SUBCREW_RUN > next; mv next marker; while :; do sleep 0.02; done");`,
    );
    const runtime = spawn(process.execPath, [program], { stdio: ["ignore", "ignore", "inherit"] });
    await expect.poll(() => existsSync(join(place.ws, "marker")), patient).toBe(true);
    // The shell and the sleeping process; a program that is just being started has no environment for a moment.
    await expect.poll(async () => (await withMarkerIn(place.ws)).length, patient).toBeGreaterThanOrEqual(2);
    runtime.kill("SIGKILL");
    await expect.poll(() => withMarkerIn(place.ws), patient).toEqual([]);
  });

  test("background commands keep running, report new output, can be stopped, and end with the task", async () => {
    const place = room();
    const task = host(place, full());
    const { commands } = task;
    const shell = await commands.start("echo one; until test -e go; do sleep 0.02; done; rm go; echo two; sleep 1000");
    await expect.poll(() => shell.news(), patient).toBe("one\n");
    expect(shell.news()).toBe("");
    writeFileSync(join(place.ws, "go"), "");
    await expect.poll(() => shell.news(), patient).toBe("two\n");
    expect([shell.id, shell.news(), shell.result()]).toEqual(["shell_1", "", undefined]);
    const short = await commands.start("echo short; exit 3");
    while (short.result() === undefined) await sleep(10);
    expect(short.result()).toMatchObject({ ended: "exited", code: 3, text: "short\n" });
    await task.end();
    expect(shell.result()).toMatchObject({ ended: "cancelled" });
    expect(readdirSync(place.ws)).toEqual(["a.txt"]);
  });

  test("SBX-10: the sandbox costs one more program for each command, and nothing is probed again", async () => {
    const place = room();
    const [counting, starts] = [join(place.all, "bwrap"), join(place.all, "starts")];
    writeFileSync(counting, `#!/bin/sh\necho >> '${starts}'\nexec ${full().bwrap} "$@"\n`, { mode: 0o755 });
    const commands = host(place, { ...full(), bwrap: counting });
    for (let n = 0; n < 10; n++) expect(await run(commands, "true")).toMatchObject({ ended: "exited", code: 0 });
    expect(readFileSync(starts, "utf8")).toBe("\n".repeat(10));
  });

  test("long output is kept in a file that the command cannot reach", async () => {
    const place = room();
    const outputs = join(place.all, "outputs");
    const result = await run(host(place, full(), { outputs, hidden: async () => [outputs] }), "seq 1 200000");
    expect(result.cutBytes).toBeGreaterThan(100_000);
    expect(readFileSync(result.file!, "utf8").split("\n").length).toBe(200_001);
  });

  test("a workspace with odd characters in its name works", async () => {
    const all = tempFolder({ "a b'c\"d\\e $(x)/a.txt": "odd" });
    const ws = join(all, "a b'c\"d\\e $(x)");
    expect(await said(host({ all, ws, out: all, home: all }, full()), "cat a.txt; mkdir .claude")).toBe("odd");
    expect(readdirSync(ws)).toEqual([expect.stringMatching(/^\.claude\.refused-/), "a.txt"]);
  });
});

describe("without a sandbox", () => {
  test("commands run unisolated, with the passed environment, and this is reported", async () => {
    const place = room();
    const commands = host(place, nothing, { wish: "off" });
    expect(commands.commands.state).toMatchObject({ sandboxed: false, waived: true });
    expect(host(place, nothing).commands.state).toMatchObject({ sandboxed: false, waived: false });
    expect(await said(commands, "env | cut -d= -f1 | sort | tr '\\n' ' '")).toBe(
      "HOME LANG PATH PWD SHLVL SUBCREW_RUN _",
    );
  });

  test("the end of a task ends everything that it started", async () => {
    const place = room();
    const task = host(place, nothing, { name: `ends-${process.pid}`, wish: "off" });
    const shell = await task.commands.start("setsid sleep 1000 & echo $SUBCREW_RUN; sleep 1001");
    let marker = "";
    while (marker === "") {
      await sleep(10);
      marker = shell.news().trim();
    }
    // A program that is just being started has no environment for a moment.
    while ((await bearersOf(`SUBCREW_RUN=${marker}`)).length < 2) await sleep(10);
    await task.end();
    expect(await bearersOf(`SUBCREW_RUN=${marker}`)).toEqual([]);
  });

  test("a command that cannot be started is distinguished from one that fails", async () => {
    const place = room();
    const commands = host(place, nothing, { wish: "off" });
    rmSync(place.ws, { recursive: true });
    expect(await run(commands, "true")).toMatchObject({ ended: "not-started" });
  });
});

test("programs are never looked up in the workspace or in relative folders", () => {
  expect(safePath("/ws/bin:.:bin::/usr/bin:/ws:/ws-other/bin", ["/ws"])).toBe("/usr/bin:/ws-other/bin");
  expect(safePath(undefined, ["/ws"])).toBe("/usr/local/bin:/usr/bin:/bin");
  expect(safePath("/ws/bin", ["/ws"])).toBe("/usr/local/bin:/usr/bin:/bin");
});
