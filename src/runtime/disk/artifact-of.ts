import { createHash, hash as hashOf } from "node:crypto";
import { lstat, readlink } from "node:fs/promises";
import type { Artifact } from "../../core/outcome/artifact.ts";
import { openRegular } from "./regular-file.ts";

/** The hash and size of a text. */
export function artifactOf(text: string): Artifact {
  return { hash: hashOf("sha256", text, "hex"), bytes: Buffer.byteLength(text) };
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
