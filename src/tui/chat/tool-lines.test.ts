import { expect, test } from "vitest";
import { createLook } from "../../core/view/look.ts";
import { endedCallLines } from "./tool-lines.ts";

const look = createLook({ color: false, unicode: true });
const failed = (text: string): string[] =>
  endedCallLines({ tool: "bash", preview: "make", startedAt: 0, state: "error", text, ms: 5 }, { look, columns: 70 });

test("a failed command shows its last output and how it ended, also when the network is missing", () => {
  expect(failed("one\ntwo\nthree\nfour\n[exit code 6]\n[commands have no network here]")).toEqual([
    "✗ bash make",
    "  two",
    "  three",
    "  four",
    "  exit code 6; commands have no network here",
  ]);
});

test("any other failed call shows its first line", () => {
  expect(failed("There is no such file.\nNear: a.txt")).toEqual(["✗ bash make", "  There is no such file."]);
});
