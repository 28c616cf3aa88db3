import { execFileSync, fork } from "node:child_process";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { protectedPart } from "../../src/core/policy/protected-paths.ts";
import { placed } from "../../src/core/rules/call-subject.ts";
import { parseRules, ruleFits } from "../../src/core/rules/rule.ts";
import type { Script } from "../../src/models/scripted/scripted.ts";
import { agentFamilies } from "../../src/runtime/discovery/sources.ts";
import { writeFile } from "../../src/tools/files/write-file.ts";
import { builtinTools } from "../../src/tools/table.ts";
import { callTool } from "../support/call-tool.ts";
import { call, type Played, play } from "../support/play.ts";
import { tempFolder } from "../support/temp-folder.ts";

const CANARY = "canary-c04d";

type Places = { all: string; ws: string; out: string };

function places(files: Readonly<Record<string, string>> = {}): Places {
  const all = tempFolder({
    "ws/a.txt": "inside\n",
    "ws/src/b.txt": "deep\n",
    "outside/secret.txt": CANARY,
    "ws-evil/secret.txt": CANARY,
    ...files,
  });
  return { all, ws: join(all, "ws"), out: join(all, "outside") };
}

/** A call of every file tool with this path, if the tool takes one. */
const everyTool = (path: string): Script[] => [
  call("read_file", { path }),
  call("get_file_info", { path }),
  call("list_files", { path }),
  call("grep_files", { pattern: "canary", path }),
  call("glob", { pattern: "*", path }),
  call("write_file", { path, content: "overwritten" }),
  call("edit_file", { path, oldText: CANARY, newText: "overwritten" }),
  call("delete_file", { path, recursive: true }),
  call("move_file", { from: path, to: "stolen" }),
  call("move_file", { from: "a.txt", to: path, overwrite: true }),
];

/** The user's rules allow everything, so that every refusal comes from a fixed protection. */
async function bold(calls: readonly Script[], cwd: string, more: object = {}): Promise<Played> {
  const setting = { cwd, permissions: { mode: "bypass" as const }, ...more };
  const first = await play(calls.slice(0, AT_ONCE), setting);
  if (calls.length <= AT_ONCE) return first;
  const rest = await bold(calls.slice(AT_ONCE), cwd, more);
  return {
    ...rest,
    events: [...first.events, ...rest.events],
    denied: [...first.denied, ...rest.denied],
    ended: [...first.ended, ...rest.ended],
  };
}

/** An agent whose calls are all refused gets its last turn after this many turns. */
const AT_ONCE = 4;

/** Everything that the model read, as one text. */
const heard = ({ events }: Played): string =>
  JSON.stringify(events.filter(({ type }) => type === "tool.ended" || type === "tool.denied"));

test("PATH-01: no file tool reaches parents, absolute paths outside, or a sibling folder with the same prefix", async () => {
  const { all, ws, out } = places();
  for (const path of [
    "../outside/secret.txt",
    "src/../../outside/secret.txt",
    join(out, "secret.txt"),
    "../ws-evil/secret.txt",
    join(all, "ws-evil/secret.txt"),
    "..",
    "/etc/passwd",
  ]) {
    const played = await bold(everyTool(path), ws);
    expect([path, played.denied.length]).toEqual([path, 10]);
    expect(new Set(played.denied.map(({ rule }) => rule))).toEqual(new Set(["outside"]));
    expect(played.denied.every(({ text }) => text.startsWith("DENIED: "))).toBe(true);
    expect(played.outcome).toMatchObject({ status: "ok" });
    expect(heard(played)).not.toContain(CANARY);
  }
  expect(readFileSync(join(out, "secret.txt"), "utf8")).toBe(CANARY);
  expect(readFileSync(join(all, "ws-evil/secret.txt"), "utf8")).toBe(CANARY);
  expect(readdirSync(ws).toSorted()).toEqual(["a.txt", "src"]);
});

test("PATH-02: links that lead out are not followed, neither to read nor to write nor to create", async () => {
  const { ws, out } = places();
  symlinkSync(join(out, "secret.txt"), join(ws, "l"));
  symlinkSync(out, join(ws, "d"));
  symlinkSync(join(out, "newdir"), join(ws, "d2"));
  const calls = [
    ...["l", "d/secret.txt", "d", "d2"].flatMap((path) => [
      call("read_file", { path }),
      call("list_files", { path }),
      call("edit_file", { path, oldText: CANARY, newText: "x" }),
    ]),
    ...["l", "d/new.txt", "d2", "d2/x", "d/sub/deep/x"].map((path) => call("write_file", { path, content: "x" })),
    ...["d/secret.txt", "d/x"].map((path) => call("delete_file", { path })),
    call("move_file", { from: "a.txt", to: "d/a.txt" }),
    call("move_file", { from: "d/secret.txt", to: "got.txt" }),
  ];
  const played = await bold(calls, ws);
  expect([played.denied.length, played.ended.length]).toEqual([calls.length, 0]);
  expect(heard(played)).not.toContain(CANARY);
  expect(readdirSync(out)).toEqual(["secret.txt"]);
});

test("links that stay inside are followed, and their targets are changed", async () => {
  const { ws } = places();
  symlinkSync("src/b.txt", join(ws, "short"));
  symlinkSync("src", join(ws, "folder"));
  const played = await bold(
    [call("write_file", { path: "short", content: "new" }), call("write_file", { path: "folder/c.txt", content: "c" })],
    ws,
  );
  expect(played.denied).toEqual([]);
  expect([
    lstatSync(join(ws, "short")).isSymbolicLink(),
    readFileSync(join(ws, "src/b.txt"), "utf8"),
    readFileSync(join(ws, "src/c.txt"), "utf8"),
  ]).toEqual([true, "new", "c"]);
});

test("PATH-03: a folder that is constantly swapped for a link never leaks a file", {
  timeout: 600_000,
}, async () => {
  const { all, ws, out } = places();
  mkdirSync(join(ws, "x"));
  const program = join(all, "swap.cjs");
  writeFileSync(
    program,
    `const { mkdirSync, renameSync, rmSync, symlinkSync } = require("node:fs");
     const restore = () => {
       for (;;) try {
         for (const name of ["x", "folder", "link"]) rmSync(name, { recursive: true, force: true });
         mkdirSync("x", { recursive: true }); symlinkSync(${JSON.stringify(out)}, "link");
         return;
       } catch {} // a file was written meanwhile
     };
     process.chdir(${JSON.stringify(ws)});
     restore();
     process.on("disconnect", () => process.exit());
     const swap = () => {
       for (let n = 0; n < 200; n++) {
         try { renameSync("x", "folder"); renameSync("link", "x"); renameSync("x", "link"); renameSync("folder", "x"); }
         catch { restore(); } // whoever writes makes folders that are missing, also this one
       }
       setImmediate(swap);
     };
     process.send("ready"); swap();`,
  );
  const helper = fork(program, { execArgv: [] });
  const gone = new Promise((resolve) => helper.once("exit", resolve));
  onTestFinished(async () => {
    helper.kill("SIGKILL");
    await gone; // otherwise the loop would create folders while they are deleted
  });
  await new Promise((ready) => helper.once("message", ready));
  let [attempts, written, refused] = [0, 0, 0];
  const attempt = async (n: number): Promise<void> => {
    await callTool(writeFile, ws, { path: `x/f${n % 50}`, content: "x" }).then(
      () => written++,
      () => refused++,
    );
  };
  // On a busy machine the other process may not run during many attempts, so the loop runs until both variants occur.
  for (; attempts < 2_000 || written <= 100 || refused <= 10; attempts += 40) {
    await Promise.all(Array.from({ length: 40 }, (_, at) => attempt(attempts + at)));
    expect([helper.exitCode, helper.signalCode]).toEqual([null, null]);
  }
  expect(readdirSync(out)).toEqual(["secret.txt"]);
});

test("PATH-03: only the approved file is changed, also when its folder was replaced meanwhile", async () => {
  const { ws } = places({ "ws/safe/f": "old", "ws/other/f": "old" });
  symlinkSync("safe", join(ws, "x"));
  const { cwd } = { cwd: ws };
  const judged = [{ kind: "path", places: ["x/f", "safe/f"], change: true } as const];
  const access = {
    judged,
    closedIn: () => ({}),
    placeOf: (absolute: string) => absolute.slice(ws.length + 1),
    check: () => ({ decision: "allow", rule: "", why: "", hint: "" }) as const,
    roots: [],
    seen: new Map<string, string>(),
  };
  await callTool(writeFile, cwd, { path: "x/f", content: "new" }, { access });
  execFileSync("ln", ["-sfn", "other", join(ws, "x")]);
  await expect(callTool(writeFile, cwd, { path: "x/f", content: "new" }, { access })).rejects.toThrow(
    "now points to a different place",
  );
  expect([readFileSync(join(ws, "safe/f"), "utf8"), readFileSync(join(ws, "other/f"), "utf8")]).toEqual(["new", "old"]);
});

test("PATH-04: a deny rule applies to the targets of links, with and without a slash, for every tool that reads, searches or lists", async () => {
  for (const rule of [
    "read_file(secrets/**)",
    "read_file(secrets/)",
    "read_file(secrets)",
    "Read(./secrets/**)",
    "grep_files(secrets/**)",
  ]) {
    const { ws } = places({ "ws/secrets/key": CANARY, "ws/secrets/sub/key": CANARY, "ws/pub/note": "canary bird" });
    symlinkSync("../secrets", join(ws, "pub/s"));
    const calls = [
      ...[
        "secrets/key",
        "pub/s/key",
        "pub/s/sub/key",
        "./secrets//key",
        "pub/../secrets/key",
        "secrets",
        "pub/s",
        "Secrets/KEY",
      ].flatMap((path) => [
        call("read_file", { path }),
        call("get_file_info", { path }),
        call("list_files", { path }),
        call("grep_files", { pattern: "canary", path }),
      ]),
      ...["", "pub"].map((path) => call("grep_files", { pattern: "canary", ...(path !== "" && { path }) })),
      call("glob", { pattern: "**/key" }),
      call("list_files", { depth: 5 }),
    ];
    const played = await bold(calls, ws, { permissions: { mode: "bypass", deny: [rule] } });
    expect([rule, heard(played).includes(CANARY)]).toEqual([rule, false]);
    expect([rule, heard(played).includes("secrets/sub"), heard(played).includes("canary bird")]).toEqual([
      rule,
      false,
      true,
    ]);
  }
});

test("PATH-05: a workspace given by a link or with a slash at its end is the same workspace", async () => {
  const { all, ws } = places();
  symlinkSync(ws, join(all, "by-link"));
  for (const cwd of [join(all, "by-link"), `${ws}/`]) {
    const calls = [
      call("read_file", { path: join(ws, "a.txt") }),
      call("read_file", { path: join(all, "by-link/a.txt") }),
      call("write_file", { path: join(ws, "n.txt"), content: "n" }),
    ];
    const played = await play(calls, { cwd, permissions: { allow: ["write_file(n.txt)"] } });
    expect(played.ended.filter(({ error }) => error).length).toBeLessThanOrEqual(1); // the other spelling of the link is another path
    expect(played.ended.at(-1)).toMatchObject({ tool: "write_file", error: false });
  }
});

test("PATH-06: deny rules and protections apply to every spelling that some file system treats as the same name", () => {
  const [rule] = parseRules(["read_file(geheim/Ärger/**)"]);
  for (const path of [
    "geheim/Ärger/x",
    "GEHEIM/ärger/x",
    "geheim/A\u0308rger/X",
    "Geheim/a\u0308RGER",
    "geheim/Är\u200bger/x",
  ]) {
    expect([path, ruleFits(rule!, "read_file", placed(path, false), "ban")]).toEqual([path, true]);
  }
  for (const path of [
    ".GIT/config",
    ".Git/hooks/x",
    "sub/.gIt",
    ".g\u200cit/config",
    ".CLAUDE/settings.json",
    ".VsCode/tasks.json",
    ".BashRC",
    ".ssh\u200b/id",
    ".hu\u017fky/pre-commit",
    ".v\u017fcode/tasks.json",
  ]) {
    expect([path, protectedPart(path)]).not.toEqual([path, undefined]);
  }
});

test("PATH-07: pipes, sockets, devices and folders are refused at once by every tool that reads or writes files", {
  timeout: 300_000,
}, async () => {
  const { ws } = places();
  execFileSync("mkfifo", [join(ws, "pipe")]);
  symlinkSync("/dev/zero", join(ws, "zero"));
  symlinkSync("/proc/self/environ", join(ws, "environ"));
  const server = createServer();
  await new Promise<void>((listening) => server.listen(join(ws, "socket"), listening));
  onTestFinished(() => void server.close());
  const began = performance.now();
  for (const path of ["pipe", "zero", "environ", "socket"]) {
    const calls = [
      call("read_file", { path }),
      call("grep_files", { pattern: "x", path }),
      call("write_file", { path, content: "x" }),
      call("edit_file", { path, oldText: "x", newText: "y" }),
    ];
    const played = await bold(calls, ws);
    expect([path, played.denied.length]).toEqual([path, 4]);
  }
  const folder = await bold(
    [call("write_file", { path: "src", content: "x" }), call("edit_file", { path: "src", oldText: "x", newText: "y" })],
    ws,
  );
  expect(folder.ended.map(({ error }) => error)).toEqual([true, true]);
  expect(performance.now() - began).toBeLessThan(120_000); // no process ever writes into the pipe
  expect(lstatSync(join(ws, "pipe")).isFIFO()).toBe(true);
});

test("PATH-08: files that are executed or loaded as configuration later are not written, created, replaced or deleted without a rule that names them", async () => {
  const agents = agentFamilies.flat().flatMap(({ project }) => project);
  const wanted = [
    ...agents.map((place) =>
      place.includes(".") && /\.\w+$/.test(place) && !place.startsWith(".") ? place : `${place}/x.md`,
    ),
    ".git/hooks/pre-commit",
    ".git/config",
    "sub/.git/config",
    ".subcrew/config.yaml",
    ".claude/settings.json",
    ".mcp.json",
    ".vscode/tasks.json",
    ".idea/x.xml",
    ".cursor/mcp.json",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".envrc",
    ".npmrc",
    ".husky/pre-commit",
    ".devcontainer/devcontainer.json",
    ".ssh/authorized_keys",
    "packages/a/.vscode/launch.json",
  ];
  const { ws } = places({ "ws/.git/config": "old", "ws/.vscode/tasks.json": "old", "ws/folder/x": "x" });
  for (const mode of ["acceptEdits", "bypass"] as const) {
    for (const allow of [[], ["write_file(**)", "write_file", "move_file", "edit_file(*)"]]) {
      const calls = [
        ...wanted.map((path) => call("write_file", { path, content: "x" })),
        ...wanted.map((path) => call("move_file", { from: "a.txt", to: path, overwrite: true })),
        call("edit_file", { path: ".git/config", oldText: "old", newText: "new" }),
        call("delete_file", { path: ".git", recursive: true }),
        call("move_file", { from: ".vscode", to: "gone" }),
        call("move_file", { from: "folder", to: ".git/hooks" }),
      ];
      for (let at = 0; at < calls.length; at += AT_ONCE) {
        const played = await play(calls.slice(at, at + AT_ONCE), { cwd: ws, permissions: { mode, allow } });
        expect(played.ended).toEqual([]);
        expect(played.denied.filter(({ rule }) => !rule.startsWith("protected "))).toEqual([]);
      }
    }
  }
  expect(readdirSync(ws).toSorted()).toEqual([".git", ".vscode", "a.txt", "folder", "src"]);
  expect(readFileSync(join(ws, ".git/config"), "utf8")).toBe("old");
  const named = await play(
    [
      call("write_file", { path: ".vscode/tasks.json", content: "new" }),
      call("write_file", { path: ".vscode/launch.json", content: "new" }),
    ],
    { cwd: ws, permissions: { allow: ["write_file(.vscode/tasks.json)"] } },
  );
  expect([named.ended.length, named.denied.length]).toEqual([1, 1]);
  expect(named.denied[0]!.hint).toContain("--allow 'write_file(.vscode/launch.json)'");
});

test("PATH-08: a folder that contains something protected is not deleted or moved", async () => {
  const { ws } = places({ "ws/lib/.git/config": "old", "ws/lib/x": "x" });
  const played = await bold(
    [call("delete_file", { path: "lib", recursive: true }), call("move_file", { from: "lib", to: "other" })],
    ws,
  );
  expect(played.denied.length).toBe(2);
  expect(readFileSync(join(ws, "lib/.git/config"), "utf8")).toBe("old");
  expect(existsSync(join(ws, "lib/x"))).toBe(true);
});

test("PATH-04, PATH-08: a folder is not moved if that would bring a forbidden file to or from a forbidden place", async () => {
  const { ws } = places({ "ws/keys/deep/key-of-x": CANARY, "ws/single": CANARY });
  const written = { "x/agents/evil.md": "x", "y/git/config": "x", "z/locked/a": "x" };
  const played = await bold(
    [
      ...Object.entries(written).map(([path, content]) => call("write_file", { path, content })),
      call("move_file", { from: "x", to: ".github" }),
      call("move_file", { from: "y", to: "home/.config" }),
      call("move_file", { from: "z", to: "far" }),
      call("move_file", { from: "keys", to: "open" }),
      call("move_file", { from: "keys/deep", to: "deep" }),
      call("move_file", { from: "single", to: "double" }),
      call("move_file", { from: "src", to: "source" }),
      call("edit_file", { path: "keys/deep/key-of-y", oldText: "a", newText: "b" }),
    ],
    ws,
    {
      permissions: {
        mode: "bypass",
        deny: ["write_file(far/locked/**)", "read_file(keys/deep/key-*)", "grep_files(./single)"],
      },
    },
  );
  expect(played.denied.map(({ tool }) => tool)).toEqual(Array.from({ length: 6 }, () => "move_file"));
  expect(readdirSync(ws).toSorted()).toEqual(["a.txt", "home", "keys", "single", "source", "x", "y", "z"]);
  expect(played.ended.at(-1)!.text).toContain("does not exist");
  // the answer does not reveal the name of the file either
  expect(JSON.stringify(played.ended)).not.toContain("key-of-x");
});

test("PATH-09: odd paths are taken literally or refused with a message; nothing is expanded or read as an option", async () => {
  const { ws, all } = places();
  const odd = [
    "a\u0000b",
    "line\nbreak",
    "\u001b[2Jx",
    "x".repeat(5_000),
    "y".repeat(300),
    "-rf",
    "--help",
    "~",
    "~/x",
    "%2e%2e/x",
    "$HOME/x",
    "$(id)",
    "`id`",
    "*",
    "[a]",
    "{a,b}",
    "dots...",
    "blank ",
    "\u202eevil",
  ];
  const played = await bold(
    odd.flatMap((path) => [call("write_file", { path, content: "x" }), call("read_file", { path })]),
    ws,
  );
  expect(played.ended.length + played.denied.length).toBeGreaterThan(0);
  expect(readdirSync(all).toSorted()).toEqual(["outside", "ws", "ws-evil"]);
  for (const path of ["-rf", "~", "$(id)", "*", "[a]", "{a,b}", "dots...", "blank "])
    expect([path, existsSync(join(ws, path))]).toEqual([path, true]);
  expect(existsSync(join(ws, "%2e%2e/x"))).toBe(true);
  expect(heard(played)).not.toContain("uid=");
  const texts = played.ended.map(({ text }) => text).join("\n");
  expect(texts).not.toContain("\u001b");
});

test("PATH-10: lists and searches do not leave the workspace through a link to the root, and loops end", async () => {
  const { ws } = places();
  symlinkSync("/", join(ws, "l"));
  symlinkSync("loop", join(ws, "loop"));
  symlinkSync("..", join(ws, "src/up"));
  const played = await bold(
    [call("list_files", { depth: 20 }), call("glob", { pattern: "**" }), call("grep_files", { pattern: "." })],
    ws,
  );
  expect(heard(played)).not.toMatch(/passwd|outside|usr/);
});

test("PATH-11: both ends of a move are checked, removing a link removes the link itself, and nothing behind a link is removed", async () => {
  const { ws, out } = places({ "ws/dir/x": "x", "outside/keep/x": "x" });
  symlinkSync(join(out, "secret.txt"), join(ws, "link"));
  symlinkSync(join(out, "keep"), join(ws, "dir/away"));
  const played = await bold(
    [
      call("move_file", { from: "link", to: "moved" }),
      call("move_file", { from: "a.txt", to: "dir/away/a.txt" }),
      call("move_file", { from: "dir/away/x", to: "x" }),
      call("delete_file", { path: "dir", recursive: true }),
      call("delete_file", { path: "moved" }),
    ],
    ws,
  );
  expect(played.denied.map(({ rule }) => rule)).toEqual(["outside", "outside"]);
  expect(readdirSync(ws).toSorted()).toEqual(["a.txt", "src"]);
  expect([readFileSync(join(out, "secret.txt"), "utf8"), readFileSync(join(out, "keep/x"), "utf8")]).toEqual([
    CANARY,
    "x",
  ]);
});

test("PATH-11: a folder that is mounted in another one (mount --bind) is not emptied when that one is deleted", async (context) => {
  const { ws, out } = places({ "ws/dir/x": "x", "ws/dir/in/mounted/.keep": "", "outside/keep/x": "x" });
  const point = join(ws, "dir/in/mounted");
  try {
    execFileSync("mount", ["--bind", out, point], { stdio: "ignore" });
  } catch {
    context.skip("a folder cannot be mounted here: that needs root");
  }
  onTestFinished(() => void execFileSync("umount", ["-l", point]));
  const played = await bold([call("delete_file", { path: "dir", recursive: true })], ws);
  expect(heard(played)).toMatch(/dir.in.mounted.*is another file system and is left alone/);
  expect([existsSync(join(ws, "dir/x")), existsSync(join(out, "keep/x"))]).toEqual([true, true]);
});

test("PATH-12: no tool unpacks an archive or applies a patch, so nothing can be written that way", () => {
  expect(
    [...builtinTools().keys()].filter((name) => /zip|tar|unpack|extract|patch/.test(name) && name !== "memory_patch"),
  ).toEqual([]);
});

test("PATH-13: writing to a hard link does not change the file outside", async () => {
  const { ws, out } = places();
  linkSync(join(out, "secret.txt"), join(ws, "in"));
  linkSync(join(out, "secret.txt"), join(ws, "in2"));
  const played = await bold(
    [
      call("write_file", { path: "in", content: "mine" }),
      call("edit_file", { path: "in2", oldText: CANARY, newText: "mine" }),
    ],
    ws,
  );
  expect(played.ended.map(({ error }) => error)).toEqual([false, false]);
  expect([
    readFileSync(join(out, "secret.txt"), "utf8"),
    readFileSync(join(ws, "in"), "utf8"),
    readFileSync(join(ws, "in2"), "utf8"),
  ]).toEqual([CANARY, "mine", "mine"]);
  expect(statSync(join(out, "secret.txt")).nlink).toBe(1);
});
