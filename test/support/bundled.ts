import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";

/** A program that Node can start, bundled from this source; it may import from `src/` like the files of this folder. */
export function bundled(folder: string, source: string): string {
  const file = join(folder, "program.mjs");
  const { outputFiles } = buildSync({
    stdin: { contents: source, resolveDir: join(import.meta.dirname, "../.."), loader: "ts" },
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "silent",
  });
  writeFileSync(file, outputFiles[0]!.contents);
  return file;
}
