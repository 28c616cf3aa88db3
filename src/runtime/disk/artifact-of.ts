import { createHash, hash as hashOf } from "node:crypto";
import { lstat, readlink } from "node:fs/promises";
import type { Artifact } from "../../core/outcome/artifact.ts";
import { CrewError } from "../../core/schema/error.ts";
import { openRegular } from "./regular-file.ts";

/** The hash and size of a text. */
export function artifactOf(text: string): Artifact {
  return { hash: hashOf("sha256", text, "hex"), bytes: Buffer.byteLength(text) };
}

/** Returns a stored text, or bytes; throws if it does not have the hash that the records of its run have. */
export function checkedText<T extends string | Buffer>(stored: T | undefined, hash: string): T | undefined {
  if (stored === undefined || hashOf("sha256", stored, "hex") === hash) return stored;
  throw new CrewError(
    "RUN_DAMAGED",
    `A stored text of the run does not match its hash ${hash}: it was changed or damaged.`,
    "Run the task again.",
  );
}

/** The hash and size of a file; for a symbolic link, the hash and size of the path that it contains. */
export async function artifactOfFile(file: string): Promise<Artifact> {
  if ((await lstat(file)).isSymbolicLink()) return artifactOf(await readlink(file));
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of (await openRegular(file)).createReadStream()) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { hash: hash.digest("hex"), bytes };
}
