import { expect, test } from "vitest";
import { createLook } from "../../core/view/look.ts";
import { endedCallLines } from "./tool-lines.ts";

const look = createLook({ color: false, unicode: true });
const failed = (text: string): string[] =>
  endedCallLines({ tool: "bash", preview: "make", startedAt: 0, state: "error", text, ms: 5 }, { look, columns: 70 });

test("a command that failed shows what it printed last and how it ended, also for want of network", () => {
  expect(failed("one\ntwo\nthree\nfour\n[exit code 6]\n[commands have no network here]")).toEqual([
    "✗ bash make",
    "  two",
    "  three",
    "  four",
    "  exit code 6; commands have no network here",
  ]);
});

test("another call that failed shows its first line", () => {
  expect(failed("There is no such file.\nNear: a.txt")).toEqual(["✗ bash make", "  There is no such file."]);
});
