import { expect, test } from "vitest";
import { fill, placeholdersIn, referenced } from "./template.ts";

test.each<[string, string[]]>([
  ["nothing", []],
  ["{a} and {b} and {a}", ["a", "b"]],
  ["{task:step-one.a} {result_0} {x@y}", ["task:step-one.a", "result_0", "x@y"]],
  ["{ a } {} {-a} {a b} {{a}}", ["a"]],
  ["${a}", ["a"]],
])("the placeholders of %j are %j", (text, wanted) => {
  expect(placeholdersIn(text)).toEqual(wanted);
});

test.each<[string, Record<string, string>, string]>([
  ["{a}-{b}", { a: "1" }, "1-{b}"],
  ["{a}", { a: "$& $$ $1 $` $'" }, "$& $$ $1 $` $'"],
  ["{a} {b}", { a: "{b}", b: "{a}" }, "{b} {a}"],
  ["{a}{a}", { a: "" }, ""],
])("the template %j with the values %j becomes %j", (text, values, wanted) => {
  expect(fill(text, new Map(Object.entries(values)))).toBe(wanted);
});

test.each<[string, string | undefined]>([
  ["task_0", "zero"],
  ["result:1", "0nd"],
  ["task:0nd", "0nd"],
  ["task_zero", "zero"],
  ["task:with-hyphen.a", "with-hyphen.a"],
  ["task_7", "7"],
  ["task:9", undefined],
  ["task:nobody", undefined],
  ["previous", undefined],
  ["zero", undefined],
  ["task:", undefined],
])("the placeholder {%s} refers to %j", (placeholder, wanted) => {
  expect(referenced(placeholder, ["zero", "0nd", "with-hyphen.a", "7"])).toBe(wanted);
});
