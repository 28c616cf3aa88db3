import { spawn } from "node:child_process";
import { existsSync, readdirSync as readdir, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { bundled } from "../../../test/support/bundled.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { type Child, type ChildSpec, startChild, within } from "./child.ts";
import { bearersOf, descendantsOf } from "./process-tree.ts";

let count = 0;

/** A shell command with a unique marker. */
function line(command: string, more: Partial<ChildSpec> = {}): ChildSpec {
  const marker = `SUBCREW_RUN=test-${process.pid}-${Date.now()}-${count++}`;
  const [name, value] = marker.split("=") as [string, string];
  return {
    file: "/bin/bash",
    args: ["--noprofile", "--norc", "-c", command],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin", [name]: value },
    marker,
    ...more,
  };
}

const never = new AbortController().signal;
const run = async (spec: ChildSpec, limits: Partial<{ timeoutMs: number; signal: AbortSignal }> = {}) => {
  const child = startChild(spec);
  const ended = await within(child, { timeoutMs: 200_000, signal: never, ...limits });
  return { ...ended, text: child.output.text(), child };
};

/** For tests whose time depends on the speed of the machine. */
const patient = { timeout: 120_000 };

/** Resolves once the program has said that it is ready. */
async function ready(child: Child): Promise<void> {
  while (!child.output.text().includes("ready")) await sleep(5);
}

test("a program returns its exit code and its output", async () => {
  const { exit, text } = await run(line("echo out; echo err >&2; exit 3"));
  expect(exit).toEqual({ code: 3 });
  expect(text.split("\n").toSorted()).toEqual(["", "err", "out"]);
});

test("the standard input of a program is empty, or the given text", async () => {
  expect((await run(line("cat; echo end"))).text).toBe("end\n");
  expect((await run(line("cat"), {})).text).toBe("");
  expect((await run(line("cat", { input: "given" }))).text).toBe("given");
  expect((await run(line("exit 0", { input: "x".repeat(1_000_000) }))).exit).toEqual({ code: 0 });
});

test("a program that cannot be started returns the reason", async () => {
  expect((await run(line("", { file: "/nowhere/at/all" }))).exit.problem).toContain("ENOENT");
  expect((await run(line("echo a\0b"))).exit.problem).toContain("null bytes");
  expect((await run(line(`: ${"x".repeat(300_000)}`))).exit.problem).toContain("E2BIG");
  expect((await run(line("pwd", { cwd: "/nowhere" }))).exit.problem).toContain("ENOENT");
});

test("a program has three descriptors, its own session and exactly the given environment", async () => {
  const { text } = await run(
    line("ls /proc/$$/fd; sed 's/.*) //' /proc/$$/stat | cut -d' ' -f3,4; echo $$; env -0 | tr '\\0' ' '"),
  );
  const [fd0, fd1, fd2, group, pid, env] = text.split("\n");
  expect([fd0, fd1, fd2]).toEqual(["0", "1", "2"]);
  expect(group).toBe(`${pid} ${pid}`);
  expect(
    env
      ?.trim()
      .split(" ")
      .map((each) => each.split("=")[0])
      .toSorted(),
  ).toEqual(["PATH", "PWD", "SHLVL", "SUBCREW_RUN", "_"]);
});

test("the tail of a long output is kept, all of it is in a file, and memory stays bounded", async () => {
  const file = join(tempFolder(), "out.txt");
  const { text, child } = await run(line("seq 1 400000; echo ä", { outputFile: file }));
  expect(text.endsWith("399999\n400000\nä\n")).toBe(true);
  expect(text.length).toBeLessThan(400_000);
  expect(child.output.cutBytes() + Buffer.byteLength(text)).toBe(statSync(file).size);
  expect(readFileSync(file, "utf8")).toBe(`${Array.from({ length: 400_000 }, (_, n) => n + 1).join("\n")}\nä\n`);
  expect(child.output.file()).toBe(file);
});

test("a short output is not written to a file", async () => {
  const file = join(tempFolder(), "out.txt");
  const { child } = await run(line("echo a", { outputFile: file }));
  expect([child.output.file(), existsSync(file)]).toEqual([undefined, false]);
});

test("new output can be read while a program runs, without split characters", async () => {
  const cwd = tempFolder();
  const child = startChild(
    line("printf 'ready \\xc3'; until test -e go; do sleep 0.02; done; printf '\\xa4'; sleep 1000", { cwd }),
  );
  await ready(child);
  expect(child.output.news()).toBe("ready ");
  writeFileSync(join(cwd, "go"), "");
  await expect.poll(() => child.output.news(), patient).toBe("ä");
  await child.kill();
});

test("PROC-01: cancelling kills everything that the program started", async () => {
  const controller = new AbortController();
  const spec = line("sleep 1000 & sleep 1000 & echo ready; wait");
  const child = startChild(spec);
  await ready(child);
  controller.abort({ stop: "enough" });
  expect(await within(child, { timeoutMs: 200_000, signal: controller.signal, graceMs: 60_000 })).toEqual({
    exit: { signal: "SIGTERM" },
    cut: { by: "cancelled", reason: "enough" },
  });
  expect(await bearersOf(spec.marker)).toEqual([]);
});

test("PROC-02: a program that ignores SIGTERM is killed after two seconds", async () => {
  const spec = line("trap '' TERM INT HUP; echo ready; while :; do sleep 0.1; done");
  const child = startChild(spec);
  await ready(child);
  const began = performance.now();
  const { exit, cut } = await within(child, { timeoutMs: 1, signal: never });
  expect([exit, cut]).toEqual([{ signal: "SIGKILL" }, { by: "timeout" }]);
  expect(performance.now() - began).toBeGreaterThan(1_900); // the program did not end before its SIGKILL
  expect(await bearersOf(spec.marker)).toEqual([]);
});

test("a program that handles SIGTERM has time to clean up", async () => {
  const child = startChild(line("trap 'echo tidied; exit 7' TERM; echo ready; while :; do sleep 0.05; done"));
  await ready(child);
  await child.kill(60_000);
  expect(await child.ended).toEqual({ code: 7 });
  expect(child.output.text()).toContain("tidied");
});

test("PROC-04, PROC-10: processes that a program leaves behind are killed, and nothing waits for them", async () => {
  const spec = line("(sleep 1000 &); (setsid sleep 1001 >/dev/null 2>&1 &); (setsid nohup sleep 1002 &); echo done");
  const { exit, text, cut } = await run(spec);
  expect([exit, text, cut]).toEqual([{ code: 0 }, "done\n", undefined]);
  expect(await bearersOf(spec.marker)).toEqual([]);
});

test("PROC-03: when this process is killed, nothing that it started is left", async () => {
  const folder = tempFolder();
  const marker = `SUBCREW_RUN=orphans-${process.pid}-${Date.now()}`;
  const program = bundled(
    folder,
    `import { startChild } from "./src/runtime/commands/child.ts";
     const [name, value] = ${JSON.stringify(marker)}.split("=");
     const shell = (command) => startChild({ file: "/bin/bash", args: ["-c", command], cwd: "/", env: { PATH: "/usr/bin:/bin", [name]: value }, marker: ${JSON.stringify(marker)} });
     const children = [shell("sleep 1000"), shell("setsid sleep 1001 & sleep 1002"), shell("trap '' TERM; while :; do sleep 0.1; done")];
     children.forEach((child) => child.ended.then(() => process.exit(1)));`,
  );
  const runtime = spawn(process.execPath, [program], { stdio: ["ignore", "ignore", "inherit"] });
  await expect.poll(async () => (await bearersOf(marker)).length, patient).toBeGreaterThanOrEqual(5);
  runtime.kill("SIGKILL");
  await expect.poll(() => bearersOf(marker), patient).toEqual([]);
});

test("PROC-08: after many programs no process, file descriptor or watchdog is left", async () => {
  const descriptors = (): number => readdir("/proc/self/fd").length;
  await run(line("true"));
  const before = descriptors();
  for (let n = 0; n < 60; n++)
    await run(line(n % 3 === 0 ? "sleep 100" : "(sleep 100 &) ; echo a"), n % 3 === 0 ? { timeoutMs: 5 } : {});
  await expect.poll(descriptors, patient).toBeLessThanOrEqual(before + 2);
  await expect.poll(() => childrenOf(process.pid), patient).toEqual([]);
});

/** The shells that a process has started and not yet reaped, including zombies. */
function childrenOf(parent: number): string[] {
  return readdir("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [, name, , ppid] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(stat) ?? [];
        return Number(ppid) === parent && /^(?:sh|bash|sleep|dash)$/.test(name ?? "") ? [`${pid} ${name}`] : [];
      } catch {
        return [];
      }
    });
}

test.runIf(process.platform === "linux")(
  "parallel programs share one watchdog; a program that starts later gets a new watchdog",
  async () => {
    const before = new Set(childrenOf(process.pid));
    const dogs = (): string[] =>
      childrenOf(process.pid).filter(
        (each) =>
          !before.has(each) && readFileSync(`/proc/${each.split(" ")[0]}/cmdline`, "utf8").includes("subcrew-watchdog"),
      );
    const many = Array.from({ length: 5 }, () => startChild(line("echo ready; sleep 1000")));
    await expect.poll(() => many.every(({ output }) => output.text().includes("ready")), patient).toBe(true);
    const [first, ...more] = dogs();
    await many[0]?.kill();
    expect([more, dogs()]).toEqual([[], [first]]);
    await Promise.all(many.map((each) => each.kill()));
    expect(dogs()).toEqual([]);
    const next = startChild(line("sleep 1000"));
    expect([dogs().length, dogs()[0] === first]).toEqual([1, false]);
    await next.kill();
    expect(dogs()).toEqual([]);
  },
);

test("PROC-02: a stopped program is dead within five seconds, even when this process is busy", async () => {
  const folder = tempFolder();
  const spec = line("trap '' TERM INT HUP; setsid sleep 1000 & echo ready; while :; do sleep 0.1; done");
  const program = bundled(
    folder,
    `import { writeFileSync } from "node:fs"; import { startChild } from "./src/runtime/commands/child.ts";
     const child = startChild(${JSON.stringify(spec)});
     while (!child.output.text().includes("ready")) await new Promise((resolve) => setTimeout(resolve, 5));
     void child.kill();
     writeFileSync(${JSON.stringify(join(folder, "asked"))}, "");
     for (const until = Date.now() + 200_000; Date.now() < until; );`,
  );
  const busy = spawn(process.execPath, [program], { stdio: ["ignore", "ignore", "inherit"] });
  try {
    await expect.poll(() => existsSync(join(folder, "asked")), patient).toBe(true);
    await expect.poll(() => bearersOf(spec.marker), patient).toEqual([]);
    expect(busy.exitCode ?? busy.signalCode).toBeNull(); // the busy process still runs, so the watchdog killed the program
  } finally {
    busy.kill("SIGKILL");
  }
});

test.runIf(process.platform === "linux")(
  "processes that are told to end keep their share of the processor, so that they can exit",
  patient,
  async () => {
    const child = startChild(
      // SIGTERM is sent repeatedly; that must neither kill the programs of the handler nor start the handler again.
      line(`trap 'trap "" TERM; sleep 0.3; nice; exit' TERM; nice; echo ready; while :; do :; done`),
    );
    await ready(child);
    await child.kill(60_000);
    const [before, , after] = child.output.text().trim().split("\n");
    expect([before, after]).toEqual([expect.stringMatching(/^-?\d+$/), before]);
  },
);

test.runIf(process.platform === "linux")(
  "all descendants of a process are found, whatever their session",
  patient,
  async () => {
    const child = startChild(line("setsid sleep 1000 & sleep 1001 & echo ready $$ $!; wait"));
    await ready(child);
    const [, shell, last] = /ready (\d+) (\d+)/.exec(child.output.text()) ?? [];
    const below = descendantsOf(Number(shell)) ?? [];
    expect(below).toHaveLength(2);
    expect(below).toContain(Number(last));
    expect(descendantsOf(2 ** 22 + 1)).toBeUndefined();
    await child.kill(1);
  },
);

test.runIf(process.platform === "linux")(
  "the process group of the first process in a sandbox is killed with the sandbox, not after it",
  patient,
  async () => {
    // Each of these processes ends only when it is killed itself; in a real sandbox they end with their parent.
    const spec = line("setsid sh -c 'trap \"\" TERM; sleep 1000 & echo ready; sleep 1001' & wait", { boxed: true });
    const child = startChild(spec);
    await ready(child);
    await child.kill(1);
    await expect.poll(() => bearersOf(spec.marker), patient).toEqual([]);
  },
);

test("when this process is killed just after a program has ended, the watchdog still runs the program's clean-up script", async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "after.sh"), `echo "$1" > ${folder}/ran\n`);
  const spec = line("true", { ifKilled: { program: ["/bin/sh", join(folder, "after.sh")], record: "the record" } });
  const program = bundled(
    folder,
    `import { startChild } from "./src/runtime/commands/child.ts";
     await startChild(${JSON.stringify(spec)}).ended;
     process.kill(process.pid, "SIGKILL");`,
  );
  spawn(process.execPath, [program], { stdio: ["ignore", "ignore", "inherit"] });
  await expect.poll(() => existsSync(join(folder, "ran")), patient).toBe(true);
  await expect.poll(() => readFileSync(join(folder, "ran"), "utf8"), patient).toBe("the record\n");
});
