import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { withSetting } from "./edit-yaml.ts";

const file = `# mine
agents:
  # the scout
  scout:
    model:   fast   # quick
    tools: [ Read,Grep ]

  other: { enabled: true }

# the end
concurrency: 4
`;

test("editing YAML: a new setting adds one line and changes nothing else", () => {
  const after = withSetting(file, ["agents", "scout", "enabled"], false);
  expect(after).toBe(file.replace("Grep ]\n", "Grep ]\n    enabled: false\n"));
  expect(withSetting(after, ["agents", "scout", "enabled"], true)).toBe(
    after.replace("enabled: false", "enabled: true"),
  );
  expect(withSetting(after, ["agents", "scout", "enabled"], undefined)).toBe(file);
});

test.each(["a: b # c", '"x" && echo "y"', "a\nb", "", "true", "1e3", " [a, {b", "it's"])(
  "editing YAML: the text %j in the place of another is read as it was given",
  (value) => {
    for (const key of ["model", "tools"]) {
      const after = withSetting(
        `a: { model: fast }\nb:\n  tools: x # y\n`,
        key === "model" ? ["a", key] : ["b", key],
        value,
      );
      expect(parse(after)).toEqual(
        key === "model" ? { a: { model: value }, b: { tools: "x" } } : { a: { model: "fast" }, b: { tools: value } },
      );
    }
  },
);

test("editing YAML: a new agent is added next to the existing ones", () => {
  const after = withSetting(file, ["agents", "new", "enabled"], false);
  expect(after).toBe(file.replace("enabled: true }\n", "enabled: true }\n  new:\n    enabled: false\n"));
  expect(withSetting(after, ["agents", "new", "enabled"], undefined)).toBe(file);
});

test("editing YAML: a value inside a one-line mapping is changed in place", () => {
  expect(withSetting(file, ["agents", "other", "enabled"], false)).toBe(
    file.replace("enabled: true", "enabled: false"),
  );
});

test("editing YAML: a setting is written to an empty file, to a file of comments, and to a file without a final newline", () => {
  expect(withSetting("", ["agents", "x", "enabled"], false)).toBe("agents:\n  x:\n    enabled: false\n");
  const commented = withSetting("# mine\n", ["agents", "x", "enabled"], false);
  expect(commented).toContain("# mine");
  expect(parse(commented)).toEqual({ agents: { x: { enabled: false } } });
  expect(withSetting("model: x", ["agents", "x", "enabled"], false)).toBe(
    "model: x\nagents:\n  x:\n    enabled: false\n",
  );
});

test("editing YAML: a value that was set can be read back, a value that was removed is gone, and the rest is unchanged", () => {
  const word = fc.stringMatching(/^[a-z]{1,5}$/);
  const settings = fc.dictionary(word, fc.record({ enabled: fc.boolean(), model: word }, { requiredKeys: [] }), {
    maxKeys: 4,
  });
  const lines = settings.map((agents) =>
    [
      "model: x # default",
      ...(Object.keys(agents).length > 0 ? ["agents:"] : []),
      ...Object.entries(agents).flatMap(([name, said]) => {
        const keys = Object.entries(said).map(([key, value]) => `    ${key}: ${value} # why`);
        return keys.length === 0 ? [`  ${name}: {}`] : [`  ${name}:`, ...keys];
      }),
      "concurrency: 3",
    ].join("\n"),
  );
  fc.assert(
    fc.property(lines, word, (text, name) => {
      const after = withSetting(text, ["agents", name, "enabled"], false);
      const before = parse(text) as { agents?: Record<string, object> };
      expect(parse(after)).toEqual({
        ...before,
        agents: { ...before.agents, [name]: { ...before.agents?.[name], enabled: false } },
      });
      expect(after.split("# why").length).toBe(text.split("# why").length);
      const gone = parse(withSetting(after, ["agents", name, "enabled"], undefined)) as {
        agents?: Record<string, { enabled?: boolean }>;
      };
      expect(gone.agents?.[name]?.enabled).toBeUndefined();
    }),
    { numRuns: 100 },
  );
});
