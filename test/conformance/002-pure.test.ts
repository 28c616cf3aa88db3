import { expect, test } from "vitest";
import { progressLabel } from "../../src/core/task/preview.ts";
import { formatDuration } from "../../src/core/text/duration.ts";
import { cases } from "./harness.ts";

test.each(cases<{ ms: number }, string>("002-mycode", "duration-format"))(
  "duration-format: $name",
  ({ input, want }) => {
    expect(formatDuration(input.ms, "spaced")).toBe(want);
  },
);

test.each(cases<{ tool: string; args: Record<string, unknown> }, string>("002-mycode", "progress-label"))(
  "progress-label: $name",
  ({ input, want }) => {
    expect(progressLabel(input.tool, input.args)).toBe(want);
  },
);
