// One agent answers a question about a folder, without any key: the built-in offline model searches and quotes.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCrew } from "subcrew";

const folder = await mkdtemp(join(tmpdir(), "subcrew-example-"));
await writeFile(
  join(folder, "login.ts"),
  "export function checkPassword(given: string) {\n  return given !== '';\n}\n",
);

const crew = createCrew({ cwd: folder, home: false });
const { status, output } = await crew.run({
  agent: "explore",
  task: "Where is checkPassword defined?",
});

console.log(output);
assert.equal(status, "ok");
assert.match(output, /login\.ts:1/);
