import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { hiddenCharacters } from "../../core/agent/hidden-characters.ts";
import { importsIn, type InstructionFiles } from "../../core/agent/instruction-files.ts";
import { secretListed } from "../../core/policy/secret-paths.ts";
import { folderContains } from "../files/folder-contains.ts";
import { distrustOf, distrustText, type Trust } from "./distrust.ts";
import { hashTexts } from "./files.ts";
import { openText } from "./open.ts";
import { ancestorsOf } from "./places.ts";

/** The project's and the user's instructions for agents, and the files that they come from. */
export type ProjectInstructions = Readonly<{
  /** The text of the instructions; empty when there are none. */
  text: string;
  files: readonly Readonly<{ file: string; chars: number; cut?: true }>[];
  /** Existing files that were left out, and why. */
  left: readonly Readonly<{ file: string; why: string }>[];
}>;

export type InstructionPlace = Readonly<{ cwd: string; home: string; trust: Trust | undefined }>;

/**
 * Maximum number of characters of a single instructions file, and of all files together; the nearest files are kept
 * first.
 */
const MAX_OF_FILE = 24 * 1024;
const MAX_INSTRUCTIONS = 32 * 1024;
/** How deep imports of instruction files may be nested. */
const MAX_DEPTH = 5;

/**
 * Reads the instructions for work in a folder: the user's file, then the files from the root of the project down to the
 * folder, each followed by the files it imports. Files of a project are used only if the project is trusted, each with
 * the content that was trusted.
 */
export function readInstructions(
  { project, user }: InstructionFiles,
  { cwd, home, trust }: InstructionPlace,
): ProjectInstructions {
  const reader: Reader = { seen: new Set(), read: [], left: [] };
  const own = user.map((file) => join(home, file)).find(existsSync);
  if (own !== undefined)
    add(reader, own, { within: realOf(dirname(own)), home, shown: (path) => `~/${relative(realOf(home), path)}` });
  for (const { dir, root } of [...ancestorsOf(cwd, home)].reverse()) {
    const whole = realOf(root);
    for (const names of project) {
      const path = names.map((name) => join(dir, name)).find(existsSync);
      if (path !== undefined)
        add(reader, path, {
          within: whole,
          shown: (file) => relative(whole, file),
          refusal: (file) => refusalOf(file, { root: whole, trust }),
        });
    }
  }
  return { ...capped(reader.read), left: reader.left };
}

type Part = Readonly<{ file: string; text: string }>;
type Reader = {
  readonly seen: Set<string>;
  readonly read: Part[];
  readonly left: { file: string; why: string }[];
};
type Opened = Readonly<{ path: string; text: string; named: boolean }>;
type Group = Readonly<{
  /** The folder that imported files must be in. */
  within: string;
  /** The folder that `~` stands for; absent for project files, which must not name files of the user. */
  home?: string;
  shown(path: string): string;
  /** Why an instructions file is not used; `undefined` when it is used. */
  refusal?(file: Opened): string | undefined;
}>;

/** Adds an instructions file and the files that it imports, each once. */
function add(reader: Reader, path: string, group: Group, depth = 0): void {
  const real = realOf(path);
  if (reader.seen.has(real)) return;
  reader.seen.add(real);
  const file = group.shown(real);
  const leave = (why: string): void => void reader.left.push({ file, why });
  const isOwn = depth === 0 && group.refusal === undefined; // the user's own file may be a symbolic link to any file
  if (!isOwn && !folderContains(group.within, real)) return leave("it is outside of the project");
  if (depth > 0 && mayHoldSecrets(relative(group.within, real))) return leave("it may hold secrets");
  const opened = textOf(real);
  if ("why" in opened) return leave(opened.why);
  const named = depth > 0 || real !== join(realOf(dirname(path)), basename(path));
  const why = group.refusal?.({ path: real, text: opened.text, named });
  if (why !== undefined) return leave(why);
  const text = opened.text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  if (text.trim() !== "") reader.read.push({ file, text: text.trim() });
  if (depth >= MAX_DEPTH) return;
  for (const named of importsIn(text)) {
    const { home } = group;
    const target = !named.startsWith("~") ? resolve(dirname(real), named) : home && join(home, named.slice(1));
    if (target !== undefined && isFile(target)) add(reader, target, group, depth + 1);
  }
}

/** True for an existing file. Only a mention of an existing file is an import; `@types/node` usually is not. */
function isFile(path: string): boolean {
  return existsSync(path) && /\.[\w-]+$/.test(path);
}

/** Folders of agent programs: in a home folder they also contain keys, in a project they contain instructions. */
const TOOL_FOLDERS =
  /(?:^|\/)\.(?:subcrew|agents|omp|claude|codex|gemini|opencode|github|cursor|kiro|windsurf|continue|amp|cline)(?=\/)/g;

const mayHoldSecrets = (path: string): boolean =>
  /(?:^|\/)\.(?:env|git\/)/.test(path) || secretListed(path.replace(TOOL_FOLDERS, "")) !== undefined;

/** Why an instructions file is not used: its project is not trusted, or the file changed since it was trusted. */
function refusalOf(
  { path, text, named }: Opened,
  { root, trust }: { root: string; trust: Trust | undefined },
): string | undefined {
  const hidden = hiddenCharacters(text) !== undefined;
  const distrust = distrustOf({ root, path, hash: hashTexts([text]), hidden, named }, trust);
  return distrust && distrustText[distrust];
}

function textOf(path: string): { readonly text: string } | { readonly why: string } {
  try {
    const opened = openText(path);
    return "text" in opened ? opened : { why: opened.problem.message };
  } catch {
    return { why: "it cannot be read" };
  }
}

/**
 * The instructions with the names of their files, shortened to the maximum size; the nearest file is shortened last.
 */
function capped(parts: readonly Part[]): Omit<ProjectInstructions, "left"> {
  let room = MAX_INSTRUCTIONS;
  const kept = [...parts].reverse().map(({ file, text }) => {
    const told = text.slice(0, Math.min(room, MAX_OF_FILE));
    room -= told.length;
    return { file, text: told, cut: told.length < text.length };
  });
  const shown = kept.reverse().filter(({ text }) => text !== "");
  const heading = ({ file, text, cut }: (typeof kept)[number]): string =>
    `## ${file}\n\n${text}${cut ? "\n\n[the rest was cut]" : ""}`;
  return {
    text: shown.map(heading).join("\n\n"),
    files: kept.map(({ file, text, cut }) => ({ file, chars: text.length, ...(cut && { cut: true as const }) })),
  };
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
