import { execFileSync } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { type Need, needs, needsTimeout } from "../needs.ts";

let bwrap: Need;
beforeAll(async () => {
  bwrap = await needs("bwrap");
}, needsTimeout);

test("the programs that tests need are installed and can be started", (ctx) => {
  if (bwrap.missing !== undefined) return ctx.skip(bwrap.missing);
  expect(execFileSync(bwrap.path, ["--ro-bind", "/", "/", "echo", "inside"], { encoding: "utf8" })).toEqual("inside\n");
});

test("two concurrent checks for the same program get the same answer", { timeout: needsTimeout }, async () => {
  expect(await Promise.all([needs("bwrap"), needs("bwrap")])).toEqual([bwrap, bwrap]);
});
