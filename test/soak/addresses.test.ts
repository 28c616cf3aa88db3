import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { judgeUrl, parseAllowedHosts } from "../../src/runtime/network/web-target.ts";
import { bitsOf, SPELLINGS, special, spelling6, spellings4 } from "../support/special-addresses.ts";

test("none of a million spellings of special addresses is allowed", () => {
  const nothing = parseAllowedHosts([]);
  const passed: string[] = [];
  const random = (bits: number): bigint => BigInt(`0x${randomBytes(bits / 8).toString("hex")}`);
  for (let n = 0; n < 1_000_000; n += 1) {
    const { bits, family } = special[n % special.length]!;
    const value = BigInt(`0b${bits}${bitsOf(random(family === 4 ? 32 : 128), family).slice(bits.length)}`);
    const spelled = family === 4 ? spellings4(value, n % SPELLINGS) : spelling6(value, n);
    try {
      judgeUrl(`http://${spelled}/`, nothing);
      passed.push(spelled);
    } catch {
      continue;
    }
  }
  expect(passed).toEqual([]);
});
