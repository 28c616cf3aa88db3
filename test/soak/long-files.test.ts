import { join } from "node:path";
import { describe } from "vitest";
import { longFiles } from "./long-files.ts";

describe.each(longFiles)("%s", async (file) => {
  await import(/* @vite-ignore */ join(import.meta.dirname, "../..", file));
});
