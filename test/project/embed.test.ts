import { expect, test } from "vitest";
import { embedded } from "../../scripts/embed.mjs";

test("agents keep their text and prompts get a checked name and no last line break", () => {
  const text = embedded([["explore", '---\nname: "explore"\n---\n']], [["review-work", "Look at `it`: ${output}\n"]]);
  expect(text).toContain('  "explore": "---\\nname: \\"explore\\"\\n---\\n",\n');
  expect(text).toContain('  reviewWork: "Look at `it`: ${output}",\n} as const;');
});

test("a prompt whose file name cannot be a property is refused", () => {
  expect(() => embedded([], [["2 tries", ""]])).toThrow("prompts/2 tries.md");
});

test("files in folders keep the folder, and a part is inserted where it is named", () => {
  const files: [string, string][] = [
    ["_body", "Shared.\n"],
    ["a", "---\nname: a\n---\n<!-- include: _body.md -->\n"],
    ["sub/A", "---\nname: A\n---\n<!-- include: _body.md -->\n"],
  ];
  const text = embedded(files, []);
  expect(text).toContain(
    '  "a": "---\\nname: a\\n---\\nShared.\\n",\n  "sub/A": "---\\nname: A\\n---\\nShared.\\n",\n',
  );
  expect(text).not.toContain("_body");
  expect(() => embedded([["a", "<!-- include: _gone.md -->\n"]], [])).toThrow("a.md includes _gone.md");
});
