import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "vitest";

const folder = new URL("../../examples/", import.meta.url);

for (const name of readdirSync(folder).filter((file) => file.endsWith(".ts"))) {
  test(`the example ${name} runs, and what it asserts holds`, async () => {
    await import(fileURLToPath(new URL(name, folder)));
  });
}
