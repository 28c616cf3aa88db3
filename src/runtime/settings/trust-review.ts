import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { hiddenCharacters } from "../../core/agent/hidden-characters.ts";
import { instructedFamilies, instructionFilesOf } from "../../core/agent/instruction-files.ts";
import { defined } from "../../core/text/defined.ts";
import type { Discovery, FoundAgent, Trust } from "../discovery/discover.ts";
import { hashTexts } from "../discovery/files.ts";
import { openText } from "../discovery/open.ts";
import { readInstructions } from "../discovery/project-instructions.ts";
import { nearestInProject } from "../discovery/places.ts";
import { PROJECT_CONFIG } from "./load-config.ts";
import type { Grant } from "./trust.ts";

/** A file of a project that takes effect when the project is trusted. */
export type ProjectSource = Readonly<{
  kind: "agent" | "skill" | "command" | "settings" | "instructions";
  /** The names of the definitions in the file, for example of agents. */
  names: readonly string[];
  /** The path relative to the root of the project. */
  file: string;
  /** The real path of the file. */
  path: string;
  hash: string;
  /** True: the file contains hidden characters. */
  hidden: boolean;
  state: "new" | "changed" | "same";
  /** The hash of the content that was trusted. */
  before?: string;
  found: readonly FoundAgent[];
}>;

/** The files of a project, and the changes since it was trusted. */
export type TrustReview = Readonly<{
  root: string;
  brought: readonly ProjectSource[];
  gone: readonly string[];
  since?: string;
}>;

type Asked = Parameters<NonNullable<Trust["file"]>>[0];

/**
 * A search for files of a project. It runs as if everything were trusted, and the files that need trust are collected.
 */
export type TrustSearch = Readonly<{ kind: ProjectSource["kind"]; find(trust: Trust): Promise<Discovery> }>;

export type ReviewOptions = Readonly<{
  cwd: string;
  home: string;
  looking: readonly TrustSearch[];
  granted(root: string): Grant | undefined;
}>;

/** Lists what trusting a project would enable, without running or trusting anything. */
export async function reviewTrust({ cwd, home, looking, granted }: ReviewOptions): Promise<readonly TrustReview[]> {
  const seen: { asked: Asked; kind: ProjectSource["kind"]; found: readonly FoundAgent[] }[] = [];
  for (const { kind, find } of looking) {
    const asked: Asked[] = [];
    const discovery = await find({ project: () => true, file: (file) => (asked.push(file), true) });
    const all = [...discovery.agents, ...discovery.shadowed.map(({ found }) => found), ...discovery.disabled];
    for (const one of asked)
      seen.push({ asked: one, kind, found: all.filter(({ file, real }) => (real ?? file) === one.path) });
  }
  const settings = projectSettings(cwd, home);
  if (settings !== undefined) seen.push({ asked: settings, kind: "settings", found: [] });
  for (const asked of instructionsIn(cwd, home)) seen.push({ asked, kind: "instructions", found: [] });
  const roots = [...new Set(seen.map(({ asked }) => asked.root))].sort();
  return roots.map((root) => {
    const files = granted(root)?.files ?? {};
    const brought = seen
      .filter(({ asked }) => asked.root === root)
      .map(({ asked: { path, hash, hidden }, kind, found }): ProjectSource => {
        const file = relative(root, path);
        const before = Object.hasOwn(files, file) ? files[file] : undefined;
        const state = before === undefined ? "new" : before === hash ? "same" : "changed";
        return {
          kind,
          names: found.map(({ name }) => name),
          file,
          path,
          hash,
          hidden,
          state,
          found,
          ...defined({ before }),
        };
      });
    const gone = Object.keys(files).filter((file) => !brought.some((one) => one.file === file));
    const since = granted(root)?.at;
    return { root, brought, gone, ...(since === undefined ? {} : { since }) };
  });
}

/** The record that trusts everything that was reviewed. */
export function grantOf({ brought }: TrustReview, at: Date): Grant {
  return { at: at.toISOString(), files: Object.fromEntries(brought.map(({ file, hash }) => [file, hash])) };
}

/** The contents of the files by their trusted hash. A file that changed since the review is left out. */
export function trustedTexts(sources: readonly ProjectSource[]): Map<string, string> {
  const texts = sources.flatMap(({ path, hash }): [string, string][] => {
    const text = currentText(path);
    return text === undefined ? [] : [[hash, text]];
  });
  return new Map(texts);
}

/** The current text of a file; `undefined` if it cannot be read. */
export function currentText(path: string): string | undefined {
  try {
    const opened = openText(path);
    return "text" in opened ? opened.text : undefined;
  } catch {
    return undefined;
  }
}

/** The files with the project's instructions for agents of any program, including the files they import. */
function instructionsIn(cwd: string, home: string): Asked[] {
  const asked = new Map<string, Asked>();
  const trust: Trust = { project: () => true, file: (file) => (asked.set(file.path, file), true) };
  for (const family of instructedFamilies) {
    const files = instructionFilesOf({ kind: "project", family }, undefined);
    if ("project" in files) readInstructions(files, { cwd, home, trust });
  }
  return [...asked.values()];
}

/** The project's settings file as a file to trust. Its hash is computed, but it is not parsed. */
function projectSettings(cwd: string, home: string): Asked | undefined {
  const near = nearestInProject(cwd, PROJECT_CONFIG, home);
  if (near === undefined) return undefined;
  const text = currentText(near.path);
  if (text === undefined) return undefined;
  const hidden = hiddenCharacters(text) !== undefined;
  return { root: near.root, path: realpathSync.native(near.path), hash: hashTexts([text]), hidden };
}
