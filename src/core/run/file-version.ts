/**
 * The file, link or folder at a path at a certain moment. For a file whose content was too large to store, `kept` is
 * not set.
 */
export type FileVersion =
  | Readonly<{ kind: "absent" | "folder" | "other" }>
  | Readonly<{ kind: "link"; target: string }>
  | Readonly<{ kind: "file"; hash: string; bytes: number; mode?: number; kept: boolean }>;

/** A file before and after a change. */
export type ChangedFile = Readonly<{
  /** The absolute path of the file. */
  file: string;
  before: FileVersion;
  after: FileVersion;
}>;

export const ABSENT: FileVersion = { kind: "absent" };

/** True when both versions have the same content. Files without a hash are never the same. */
export function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  if (a.kind === "file") return b.kind === "file" && a.hash !== "" && a.hash === b.hash;
  if (a.kind === "link") return b.kind === "link" && a.target === b.target;
  return a.kind === b.kind && a.kind !== "other";
}
