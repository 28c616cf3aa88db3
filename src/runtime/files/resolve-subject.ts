import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { LocatedSubject, Subject } from "../../core/rules/call-subject.ts";
import type { ReadableOutputs } from "../../core/rules/readable-outputs.ts";
import { defined } from "../../core/text/defined.ts";
import { folderContains } from "./folder-contains.ts";
import { outside, type Root, strayLink, wantedPath } from "./open-contained.ts";
import type { ClosedPlaces } from "./secret-places.ts";

/** The folders that a task may read and write, and how permission rules name the files in them. */
export type SubjectRoots = Readonly<{
  /** The working folder of the task, then the other folders that it may write. */
  roots: readonly Root[];
  /** The path of a file as permission rules write it. */
  placeOf(absolute: string): string;
  /** Output files outside of these folders that the task may read. */
  handed?: ReadableOutputs;
  closed: Pick<ClosedPlaces, "at">;
}>;

/**
 * Resolves the subjects of a tool call, so that rules see both the real path and the given names. Throws a refusal for
 * paths outside of the allowed folders, also if they are reached through a symbolic link.
 */
export async function resolveSubject(
  subject: Subject,
  { roots, placeOf, handed, closed }: SubjectRoots,
): Promise<LocatedSubject> {
  if (subject.kind !== "path") return subject;
  const { path, change, itself } = subject;
  if (!change && handed?.files.has(path)) return { kind: "path", places: [placeOf(path)], change };
  const root = rootFor(roots, path);
  const wanted = wantedPath(root, path);
  const real = itself ? join(await existing(dirname(wanted), path), basename(wanted)) : await existing(wanted, path);
  if (!folderContains(root.real, real)) throw strayLink(path);
  const named = folderContains(root.given, wanted) ? join(root.real, wanted.slice(root.given.length)) : wanted;
  const shut = closed.at(named) ?? closed.at(real);
  return { kind: "path", places: [...new Set([placeOf(named), placeOf(real)])], change, ...defined({ closed: shut }) };
}

/** The allowed folder for a path: the working folder, unless the path is absolute and inside another root. */
export function rootFor(roots: readonly Root[], path: string): Root {
  const other = isAbsolute(path)
    ? roots.find(({ given, real }) => folderContains(given, path) || folderContains(real, path))
    : undefined;
  const root = other ?? roots[0];
  if (root === undefined) throw outside(path);
  return root;
}

/** Resolves the existing part of a path; the rest is appended as written. */
async function existing(wanted: string, path: string): Promise<string> {
  const real = await realpath(wanted).catch(() => undefined);
  if (real !== undefined) return real;
  const isLink = await lstat(wanted).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (isLink || wanted === dirname(wanted)) throw strayLink(path);
  return join(await existing(dirname(wanted), path), basename(wanted));
}
