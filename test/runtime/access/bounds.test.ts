import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { hiddenCharacters, showHidden } from "../../../src/core/agent/hidden-characters.ts";
import { createCrew, defineAgent, defineTool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { readRegularFile, readRegularTextSync } from "../../../src/runtime/disk/regular-file.ts";
import { createGuard, isPlainRequest } from "../../../src/runtime/network/loopback-server.ts";
import { checkHeaders } from "../../../src/runtime/network/web-headers.ts";
import type { KeptEvent } from "../../../src/core/run/event.ts";
import { encodeLine } from "../../support/encode-line.ts";
import { call, play } from "../../support/play.ts";
import { tempFolder } from "../../support/temp-folder.ts";

test("durations: a run and a task with a limit above 2^31 ms run normally", async () => {
  const { outcome } = await play([call("list_files", {})], {
    input: { resourceLimits: { maxDurationMs: 40_000 * 60_000, maxIdleMs: 2 ** 40, graceMs: 2 ** 35 } },
  });
  expect(outcome).toMatchObject({ status: "ok" });
});

test("argument cap: arguments of 64 MB are refused in linear time, and neither recorded nor sent again", async () => {
  const text = "x".repeat(64_000_000);
  const began = performance.now();
  const { ended, events, outcome } = await play([call("write_file", { path: "a", content: text })], {
    permissions: { mode: "bypass" },
  });
  expect(outcome).toMatchObject({ status: "ok" });
  expect(ended).toEqual([]);
  expect(JSON.stringify(events).length).toBeLessThan(100_000);
  expect(performance.now() - began).toBeLessThan(30_000);
});

test("argument cap: more than 100,000 values are refused, and neither recorded nor sent again", async () => {
  const many = Array.from({ length: 60_000 }, (_, at) => ({ at }));
  const { ended, events } = await play([call("write_file", { path: "a", content: "x", many })], {
    permissions: { mode: "bypass" },
  });
  expect(ended).toEqual([]);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "tool.rejected", reason: expect.stringContaining("more than 100000 values") }),
  );
  expect(JSON.stringify(events).length).toBeLessThan(100_000);
});

test.each([
  ["deleted", (runs: string) => rmSync(runs, { recursive: true, force: true })],
  ["renamed", (runs: string) => renameSync(runs, `${runs}-moved`)],
])("run folder %s: the next effect is not executed, and the run ends with STATE_UNWRITABLE", async (_, lose) => {
  const home = tempFolder();
  let done = 0;
  const act = defineTool({
    name: "act",
    description: "acts",
    input: z.object({}),
    effect: "write",
    does: "none",
    run: () => {
      done++;
      lose(join(home, "runs"));
      return "done";
    },
  });
  const crew = createCrew({
    home,
    cwd: tempFolder(),
    env: { PATH: "/usr/bin:/bin", HOME: tempFolder() },
    discover: false,
    tools: [act],
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work.", tools: ["act"] })],
    models: { m: scripted(call("act", {}), call("act", {}), call("act", {}), "done") },
    model: "m",
  });
  const ended = await Promise.resolve(crew.run({ mode: "single", agent: "worker", task: "Go." })).then(
    (result) => JSON.stringify(result),
    (error: unknown) => String((error as { code?: string }).code),
  );
  expect(ended).toContain("STATE_UNWRITABLE");
  expect(done).toBe(1);
});

test.each([
  ["no recorded permissions, and all of them now", undefined, "bypass", false],
  ["all permissions then, and the usual ones now", "bypass", "default", false],
  ["the usual permissions then, and all of them now", "default", "bypass", false],
  ["all permissions then and now", "bypass", "bypass", true],
] as const)("resumed rights: a journal with %s", async (_, then, now, written) => {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const id = "run_abcdefghijkl";
  const task = { kind: "task", needs: [], task: { agent: "worker", prompt: "Go.", refs: {} } };
  const started = {
    ...{ seq: 1, run: id, path: "", at: 1, type: "run.started", cwd, version: "0", limits: {} },
    ...{ plan: { nodes: { worker: task }, output: "worker" }, ...(then && { permissions: { mode: then } }) },
  };
  mkdirSync(join(home, "runs", id), { recursive: true });
  writeFileSync(join(home, "runs", id, "journal.jsonl"), encodeLine(started as unknown as KeptEvent, 1));
  const crew = createCrew({
    home,
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: tempFolder() },
    discover: false,
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work.", tools: ["write_file"] })],
    models: { m: scripted(call("write_file", { path: "x.txt", content: "x" }), "done") },
    model: "m",
    permissions: { mode: now },
  });
  const run = crew.resume(id);
  let asked = false;
  for await (const { type } of run) {
    if (type !== "gate.opened") continue;
    asked = true;
    run.cancel();
  }
  expect({ asked, written: existsSync(join(cwd, "x.txt")) }).toEqual({ asked: !written, written });
});

test("gc: an unfinished run is kept, however old it seems by the clock, until a person deletes it", async () => {
  const home = tempFolder();
  const crew = createCrew({
    home,
    cwd: tempFolder(),
    env: { PATH: "/usr/bin:/bin", HOME: tempFolder() },
    discover: false,
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work." })],
    models: { m: scripted("done") },
    model: "m",
  });
  const ended = await crew.run({ mode: "single", agent: "worker", task: "Go." });
  const again = await crew.run({ mode: "single", agent: "worker", task: "Go." });
  const journal = join(home, "runs", again.id, "journal.jsonl");
  const lines = execFileSync("head", ["-n", "2", journal]).toString("utf8");
  writeFileSync(journal, lines); // the state after a crash
  utimesSync(join(home, "runs", again.id), 1, 1);
  const now = Date.now() + 400 * 86_400_000;
  const ids = async (unfinished: boolean): Promise<string[]> =>
    (await crew.kept.collect({ olderThanMs: 86_400_000, maxBytes: 1, now, unfinished }))!.map(({ id }) => id);
  expect(await ids(false)).toEqual([ended.id]);
  expect(await ids(true)).toEqual([again.id]);
});

test("special files: a pipe or an endless device in place of a file is refused at once", async () => {
  const folder = tempFolder();
  execFileSync("mkfifo", [join(folder, "pipe")]);
  mkdirSync(join(folder, "dir"));
  for (const path of [join(folder, "pipe"), "/dev/zero", join(folder, "dir")]) {
    await expect(readRegularFile(path)).rejects.toThrow(/not a regular file/);
    expect(() => readRegularTextSync(path)).toThrow(/not a regular file/);
  }
});

test("special files: a run whose journal is a pipe does not block lists of runs", async () => {
  const home = tempFolder();
  const folder = join(home, "runs", "run_aaaaaaaaaaaa");
  mkdirSync(folder, { recursive: true });
  execFileSync("mkfifo", [join(folder, "journal.jsonl")]);
  const crew = createCrew({ home, cwd: tempFolder(), env: { HOME: tempFolder() }, discover: false, agents: [] });
  expect((await crew.kept.list().catch(() => [])).filter(({ life }) => life !== "damaged")).toEqual([]);
});

test("servers: with a valid token, a request that is not clearly for this server is refused", () => {
  const token = "t".repeat(32);
  const guard = createGuard({ tokens: { me: token }, port: 8080, hosts: [], bound: "127.0.0.1" });
  const authorization = `Bearer ${token}`;
  const ask = (headers: object): unknown => guard({ host: "127.0.0.1:8080", authorization, ...headers });
  expect(ask({})).toEqual({ caller: "me" });
  expect(ask({ origin: "http://localhost:8080", "sec-fetch-site": "same-origin" })).toEqual({ caller: "me" });
  expect(ask({ host: "[::1]:8080" })).toBe(403);
  for (const origin of [
    "https://127.0.0.1:8080",
    "http://evil.example",
    "null",
    "127.0.0.1:8080",
    "file://",
    "http://127.0.0.1:8080/x",
  ])
    expect([origin, ask({ origin })]).toEqual([origin, 403]);
  for (const site of ["cross-site", "same-site", "Cross-Site", "x"])
    expect([site, ask({ "sec-fetch-site": site })]).toEqual([site, 403]);
  const raw = (url: string, ...rawHeaders: string[]): boolean => isPlainRequest({ url, rawHeaders });
  expect(raw("/a?b", "Host", "x")).toBe(true);
  expect(raw("/", "Host", "x", "host", "x")).toBe(false);
  expect(raw("/", "Origin", "x", "ORIGIN", "y")).toBe(false);
  for (const url of ["http://127.0.0.1:8080/", "https://x/", "//x/", "*", "x:443"])
    expect([url, raw(url)]).toEqual([url, false]);
});

test("servers: headers that ask a cloud for credentials are refused", () => {
  for (const name of [
    "Metadata",
    "Metadata-Flavor",
    "X-aws-ec2-metadata-token",
    "X-aws-ec2-metadata-token-ttl-seconds",
    "X-Google-Metadata-Request",
    "x-identity-header",
    "Metadata_Flavor",
  ])
    expect(() => checkHeaders({ [name]: "1" }), name).toThrow(/credentials/);
  for (const value of ["Bearer Oracle", "bearer  oracle "])
    expect(() => checkHeaders({ Authorization: value }), value).toThrow(/credentials/);
  expect(() => checkHeaders({ Authorization: "Bearer Oracle-x" })).not.toThrow();
  expect(() => checkHeaders({ X_Forwarded_For: "1" })).toThrow(/controls how or where/);
  expect(() => checkHeaders({ "x-trace": "1" })).not.toThrow();
});

test("hidden text: a carriage return is shown, and soft hyphens and variation selectors are named", () => {
  expect(showHidden("safe\rEVIL\r\nnext\r")).toBe("safe<U+000D>EVIL\nnext<U+000D>");
  for (const [sign, code] of [
    ["\u00ad", "00AD"],
    ["\ufe00", "FE00"],
    ["\ufe0f", "FE0F"],
    ["\u{e0100}", "E0100"],
    ["\u180b", "180B"],
    ["a\rb", "000D"],
  ] as const)
    expect(hiddenCharacters(`text ${sign} more`)?.message).toContain(code);
  expect(hiddenCharacters("a heart \u2764\ufe0f and a key 1\ufe0f\u20e3\r\n")).toBeUndefined();
});

test("clock: durations are right and events stay in order when the clock is set back during a run", async () => {
  let back = 0;
  const wait = defineTool({
    name: "wait",
    description: "waits",
    input: z.object({}),
    effect: "read",
    does: "none",
    run: async () => {
      back = 3_600_000;
      await new Promise((resolve) => setTimeout(resolve, 120));
      return "waited";
    },
  });
  const crew = createCrew({
    home: tempFolder(),
    cwd: tempFolder(),
    env: { PATH: "/usr/bin:/bin", HOME: tempFolder() },
    discover: false,
    clock: () => Date.now() - back,
    tools: [wait],
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work.", tools: ["wait"] })],
    models: { m: scripted(call("wait", {}), "done") },
    model: "m",
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Go." });
  const times: number[] = [];
  for await (const event of run) times.push(event.at);
  const result = await run;
  expect(result.ms).toBeGreaterThanOrEqual(115);
  expect(result.ms).toBeLessThan(60_000);
  expect(Object.values(result.nodes).map(({ ms = 0 }) => ms >= 115 && ms < 60_000)).toEqual([true]);
  expect(times).toEqual([...times].sort((one, other) => one - other));
});

test("clock: a jump ahead during a run uses up no part of the run's time limit after a resume", async () => {
  let ahead = 0;
  const jump = defineTool({
    name: "jump",
    description: "sets the clock forward",
    input: z.object({}),
    effect: "read",
    does: "none",
    run: () => {
      ahead = 400 * 86_400_000;
      return "done";
    },
  });
  const home = tempFolder();
  const options = {
    ...{ home, cwd: home, env: { PATH: "/usr/bin:/bin", HOME: home }, discover: false as const },
    clock: () => Date.now() + ahead,
    tools: [jump],
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work.", tools: ["jump"] })],
    model: "m",
  };
  const first = createCrew({
    ...options,
    models: { m: scripted(call("jump", {}), { text: "late", delayMs: 600_000 }) },
  });
  const run = first.run({ mode: "single", agent: "worker", task: "Go." }, { maxTimeMs: 3_600_000 });
  for await (const event of run) if (event.type === "turn.started" && event.turn === 2) run.pause("for a test");
  const paused = await run;
  expect(paused.status).toBe("paused");
  const second = createCrew({ ...options, models: { m: scripted({ text: "done", delayMs: 100 }) } });
  const { status, output } = await second.resume(paused.id);
  expect({ status, output }).toEqual({ status: "ok", output: "done" });
});
