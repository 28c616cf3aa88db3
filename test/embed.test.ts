import { expect, test } from "vitest";
import { embedded } from "../scripts/embed.mjs";

test("agents keep their text and prompts get a checked name and no last line break", () => {
  const text = embedded([["explore", '---\nname: "explore"\n---\n']], [["review-work", "Look at `it`: ${output}\n"]]);
  expect(text).toContain('  "explore": "---\\nname: \\"explore\\"\\n---\\n",\n');
  expect(text).toContain('  reviewWork: "Look at `it`: ${output}",\n} as const;');
});

test("a prompt whose file name cannot be a property is refused", () => {
  expect(() => embedded([], [["2 tries", ""]])).toThrow("prompts/2 tries.md");
});
