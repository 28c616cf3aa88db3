import { z } from "zod";

const fileVersion = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.enum(["absent", "folder", "other"]) }),
  z.strictObject({ kind: z.literal("link"), target: z.string() }),
  z.strictObject({
    kind: z.literal("file"),
    hash: z.string(),
    bytes: z.number().int().nonnegative(),
    mode: z.number().int().nonnegative().exactOptional(),
    kept: z.boolean().describe("false: the content was too large to store"),
  }),
]);
/** The file, link or folder at a path at a certain moment. */
export type FileVersion = Readonly<z.infer<typeof fileVersion>>;

/** A file before and after a change. */
export const changedFile = z.strictObject({
  file: z.string().describe("the absolute path of the file"),
  before: fileVersion,
  after: fileVersion,
});
export type ChangedFile = Readonly<z.infer<typeof changedFile>>;

export const ABSENT: FileVersion = { kind: "absent" };

/** True when both versions have the same content. Files without a hash are never the same. */
export function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  if (a.kind === "file") return b.kind === "file" && a.hash !== "" && a.hash === b.hash;
  if (a.kind === "link") return b.kind === "link" && a.target === b.target;
  return a.kind === b.kind && a.kind !== "other";
}
