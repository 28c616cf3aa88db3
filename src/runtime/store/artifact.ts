import { createHash } from "node:crypto";
import type { Artifact } from "../../core/outcome/artifact.ts";

/** The hash and size of a text. */
export function artifactOf(text: string): Artifact {
  const bytes = Buffer.from(text);
  return { hash: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
}
