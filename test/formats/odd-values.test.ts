import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dialects } from "../../src/formats/table.ts";

/** Every word of the readers that may be the name of a key. */
function wordsOfTheReaders(): readonly string[] {
  const folder = join(import.meta.dirname, "..", "..", "src", "formats");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const texts = files.map((name) => readFileSync(join(folder, name), "utf8"));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(/\b[A-Za-z_][\w-]*(?=["']?\s*[:,\]])/g)].map(String)))];
}

const VALUES = [
  "{a: {b: c}}",
  "[{a: b}, [{a: b}], ~]",
  "{s: {type: {a: b}, command: {a: b}, args: [{a: b}], url: {a: b}, tools: {a: b}, env: {x: {a: b}}, headers: {x: {a: b}}}}",
];

test("a map or a list in place of any value of any kind of agent file is read or reported, and nothing throws", () => {
  const words = wordsOfTheReaders();
  expect(words).toEqual(expect.arrayContaining(["maxTurns", "permissionMode", "mcpServers"]));
  const place = { file: "/x/careful/SUBAGENT.md", relative: "careful/SUBAGENT.md" };
  const thrown: string[] = [];
  for (const [id, dialect] of Object.entries(dialects))
    for (const word of words)
      for (const value of VALUES) {
        const field = `${word}: ${value}`;
        const text = id === "crewai" ? `careful:\n  role: r\n  goal: g\n  backstory: b\n  ${field}\n` : undefined;
        try {
          dialect.read(text ?? `---\nname: careful\ndescription: is careful\n${field}\n---\nBe careful.\n`, place);
        } catch (error) {
          thrown.push(`${id} ${field}: ${String(error)}`);
        }
      }
  expect(thrown).toEqual([]);
});
