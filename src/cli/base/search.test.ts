import { expect, test } from "vitest";
import { searchRows } from "./search.ts";

const rows = [
  { name: "reviewer", about: "Reads changes" },
  { name: "explore", about: "Finds files to Review" },
];
const found = (...words: string[]): string[] =>
  searchRows(rows, words, ({ name, about }) => [name, about]).map(({ name }) => name);

test("a search finds rows that have every word, in any case and any text", () => {
  expect(found()).toEqual(["reviewer", "explore"]);
  expect(found("REVIEW")).toEqual(["reviewer", "explore"]);
  expect(found("review", "files")).toEqual(["explore"]);
  expect(found("review files")).toEqual(["explore"]);
  expect(found("nothing")).toEqual([]);
});
