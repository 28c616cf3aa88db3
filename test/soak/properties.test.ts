import { join } from "node:path";
import { describe } from "vitest";

/** The properties of which `npm test` tries a fifth of the examples: here with all of them, and with other seeds. */
const files = [
  "src/core/schema/jtd.test.ts",
  "src/core/secrets/redact.test.ts",
  "src/formats/yaml/simple-yaml.test.ts",
  "src/formats/yaml/yaml.test.ts",
  "src/runtime/network/web-target.test.ts",
  "src/tools/workspace/gitignore.test.ts",
  "src/tui/top/field-screen.test.ts",
  "test/formats/write/convert.test.ts",
  "test/runtime/execute/properties.test.ts",
];

describe.each(files)("%s", async (file) => {
  await import(/* @vite-ignore */ join(import.meta.dirname, "../..", file));
});
