import { expect, test } from "vitest";
import type { Problem } from "../../../src/core/vocabulary/file-problem.ts";
import { dialects } from "../../../src/formats/table.ts";
import { dialectPlaceOf } from "../../../src/runtime/discovery/dialect-of-path.ts";
import { lintCorpus } from "./lint-corpus.ts";

const files = lintCorpus();
const lost = { code: "unreadable", severity: "error", message: "no agent" } as const satisfies Problem;
const problems: readonly (Problem & { path: string })[] = [...files].flatMap(([path, text]) => {
  const { dialect, relative } = dialectPlaceOf(`/w/${path}`)!;
  const read = dialects[dialect]!.read(text, { file: `/w/${path}`, relative });
  return [...read.problems, ...(read.agents.length === 0 ? [lost] : [])].map((each) => ({ ...each, path }));
});

const warnings = problems.filter(({ severity }) => severity === "warning");

test("a corpus of 1,278 published shapes loads completely and gives fewer than 150 warnings", () => {
  expect(files.size).toBe(1_278);
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(warnings.length).toBeGreaterThan(40);
  expect(warnings.length).toBeLessThan(150);
});

test("each warning names a part of its file that a person can change", () => {
  const causes: Readonly<Partial<Record<Problem["code"], (text: string) => boolean>>> = {
    repaired: (text) => /^description: Use it when: /m.test(text),
    "unknown-field": (text) => /^(?:allowed-tools|tools_allowed):/m.test(text),
    "unknown-tool": (text) => /SchemaInspector|ticket-writer|chart_maker|Deploy|Raed/.test(text),
    "bad-name": (text) => text.includes("name: 🌱"),
    deprecated: (text) => /^maxSteps:/m.test(text),
  };
  const idle = warnings.filter(({ path, code }) => !(causes[code]?.(files.get(path)!) ?? false));
  expect(idle).toEqual([]);
});

test("several unknown tools of one list are one warning, and a typo gets a suggestion", () => {
  const perFile = new Map<string, number>();
  for (const { path, code, hint } of warnings)
    if (code === "unknown-tool" && !hint?.startsWith("Did you mean")) perFile.set(path, (perFile.get(path) ?? 0) + 1);
  expect(Math.max(...perFile.values())).toBe(1);
  expect(warnings.filter(({ hint }) => hint === 'Did you mean "Read"?').length).toBeGreaterThan(2);
});
