import { expect, test } from "vitest";
import { probeSandbox } from "../../src/runtime/commands/probe-sandbox.ts";
import { needs, needsTimeout } from "../needs.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { noNamesAreLeft, noNamesAreLeftBelow } from "./protected-names.ts";

test(
  "FUZZ-08: no random script leaves a protected name, however it is interrupted",
  async (context) => {
    const bwrap = await needs("bwrap");
    if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
    const place = { folder: tempFolder(), sandbox: await probeSandbox() };
    expect(await noNamesAreLeft(place, { numRuns: 6, seed: 20_261_116 })).toBeGreaterThan(3);
  },
  needsTimeout,
);

test(
  "FUZZ-08: no script leaves a protected name in a deeply nested folder",
  async (context) => {
    const bwrap = await needs("bwrap");
    if (bwrap.missing !== undefined) return context.skip(bwrap.missing);
    const place = { folder: tempFolder(), sandbox: await probeSandbox() };
    expect(await noNamesAreLeftBelow(place, 40)).toBeGreaterThan(190);
  },
  needsTimeout,
);
