import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_LIMITS, limitsIn } from "./limits.ts";
import { resourceLimits } from "./limits-schema.ts";

test("limits in an agent file are accepted and refused exactly as by the schema", () => {
  const name = fc.constantFrom(...Object.keys(DEFAULT_LIMITS), "maxTurn", "__proto__x");
  const value = fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.constantFrom(0, 1, 0.5, -1, "5", null, undefined));
  fc.assert(
    fc.property(fc.oneof(fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: false }), value), (given) => {
      const { success, data } = resourceLimits.safeParse(given);
      expect(limitsIn(given)).toEqual(success ? data : undefined);
    }),
    { numRuns: 5_000 },
  );
});
