import fc from "fast-check";
import { expect } from "vitest";
import { judgeUrl, parseAllowedHosts } from "../../src/runtime/network/web-target.ts";
import { isSpecial, special, SPELLINGS, spelling6, spellings4 } from "../support/special-addresses.ts";
import type { Tries } from "./mutate.ts";

/** FUZZ-03: an address is judged the same in every spelling, and no special address is allowed. */
export function addressesAreJudgedAlike(tries: Tries): void {
  const nobody = parseAllowedHosts([]);
  const passes = (host: string): boolean => {
    try {
      judgeUrl(`http://${host}/`, nobody);
      return true;
    } catch {
      return false;
    }
  };
  // Random addresses hardly ever hit small ranges: therefore their members, their ends, and the addresses next to them.
  const near = fc
    .tuple(
      fc.constantFrom(...special),
      fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
      fc.constantFrom("in", "first", "last", "out"),
    )
    .map(([{ bits, family }, chance, where]) => {
      const free = BigInt((family === 4 ? 32 : 128) - bits.length);
      const first = bits === "" ? 0n : BigInt(`0b${bits}`) << free;
      const last = first + (1n << free) - 1n;
      const most = (1n << (family === 4 ? 32n : 128n)) - 1n;
      const member = first + (chance % (1n << free));
      const beside = chance % 2n === 0n ? (first > 0n ? first - 1n : first) : last < most ? last + 1n : last;
      return { value: { in: member, first, last, out: beside }[where], family };
    });
  const addresses = fc.oneof(
    near,
    fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value) => ({ value, family: 4 as const })),
    fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((value) => ({ value, family: 6 as const })),
    fc.bigInt({ min: 0x2000n << 112n, max: (0x4000n << 112n) - 1n }).map((value) => ({ value, family: 6 as const })),
  );
  // Addresses with a user, and those inside an IPv6 address, are always refused.
  const plain = Array.from({ length: SPELLINGS }, (_, at) => at).filter((at) => at < 18);
  fc.assert(
    fc.property(addresses, ({ value, family }) => {
      const special = isSpecial(value, family);
      const spelled =
        family === 4 ? plain.map((at) => spellings4(value, at)) : [0, 1, 2, 3, 4].map((at) => spelling6(value, at));
      const verdicts = new Set(spelled.map(passes));
      expect(verdicts.size, spelled.join(" ")).toBe(1);
      if (special) expect(verdicts.has(true), spelled[0]).toBe(false);
      if (family === 4)
        for (let at = 18; at < SPELLINGS; at += 1) if (special) expect(passes(spellings4(value, at))).toBe(false);
    }),
    tries,
  );
}
