import { describe, expect, test } from "vitest";
import type { Fault } from "../outcome/outcome.ts";
import { type Hold, heldFault, holdAfter, type HoldRules, judgeHold, parseHold } from "./hold.ts";

const NOW = 1_800_000_000_000;
const busy: Fault = { code: "MODEL_OVERLOADED", message: "Too busy", retryable: true };
const fails: HoldRules = { parks: false, since: 0, insists: false };
const parks: HoldRules = { ...fails, parks: true };

/** A hold after a fault at this time, with these changes. */
function hold(fault: Partial<Fault> = {}, { kind = "provider", ...more }: Partial<Hold> = {}): Hold {
  const refusal = { fault: { ...busy, ...fault }, kind, about: "lab/m", now: NOW, probed: false };
  return { ...holdAfter(undefined, refusal), ...more };
}

describe("a request that does not park, while its key is on hold", () => {
  test.each<[string, Hold, number, string]>([
    ["waits for a temporary fault", hold(), 100, "wait"],
    ["tests the key when the wait is over", hold(), 500, "probe"],
    ["is sent when the outage lasts for more than a minute", hold({}, { probeAt: NOW + 90_000 }), 60_001, "try"],
    ["waits as long as the provider asks, up to a minute", hold({ retryAfterMs: 60_000 }), 0, "wait"],
    [
      "waits as long as the provider asks, however long the outage",
      hold({ retryAfterMs: 50_000 }, { began: 0 }),
      0,
      "wait",
    ],
    ["fails if the provider asks for more than a minute", hold({ retryAfterMs: 60_001 }), 0, "refuse"],
    ["waits for the rest of a long wait", hold({ retryAfterMs: 3_600_000 }), 3_540_001, "wait"],
    ["fails if the key was refused", hold({ code: "MODEL_AUTH", retryable: false }, { kind: "key" }), 9_000, "refuse"],
    ["fails without credit", hold({ retryable: false }, { kind: "credit" }), 9_000, "refuse"],
    ["is sent after a fault that waiting does not mend", hold({ code: "MODEL_NETWORK", retryable: false }), 0, "try"],
  ])("%s", (_, held, inMs, verdict) => {
    expect(judgeHold(held, fails, NOW + inMs)).toBe(verdict);
  });
});

test("a request that parks is sent when the wait is over, and only then", () => {
  expect(judgeHold(hold(), parks, NOW + 499)).toBe("refuse");
  expect(judgeHold(hold(), parks, NOW + 500)).toBe("probe");
  expect(judgeHold(hold({}, { began: 0 }), parks, NOW + 1)).toBe("refuse");
});

test("a hold from before the run is tested, unless the provider asked to wait; a person who resumes insists", () => {
  const rules = { ...fails, since: NOW + 1 };
  expect(judgeHold(hold(), rules, NOW + 2)).toBe("probe");
  expect(judgeHold(hold({ retryAfterMs: 120_000 }), rules, NOW + 2)).toBe("refuse");
  expect(judgeHold(hold({ retryAfterMs: 120_000 }), rules, NOW + 120_000)).toBe("probe");
  expect(judgeHold(hold({ retryAfterMs: 120_000 }), { ...rules, insists: true }, NOW + 2)).toBe("probe");
});

test("an outage keeps the time of its beginning while it is tested, and a later one begins anew", () => {
  const first = hold();
  const refusal = { fault: busy, kind: "provider" as const, about: "lab/m", probed: true };
  const again = holdAfter(first, { ...refusal, now: NOW + 600 });
  expect(again).toMatchObject({ began: NOW, tries: 2, probeAt: NOW + 600 + 1_000 });
  expect(holdAfter(again, { ...refusal, now: again.probeAt + 60_000 }).began).toBe(again.probeAt + 60_000);
});

test("at most an hour of what a provider asks for is believed", () => {
  expect(hold({ retryAfterMs: 86_400_000 }).probeAt).toBe(NOW + 3_600_000);
  const stored = JSON.stringify(hold({}, { probeAt: NOW + 7_200_000 }));
  expect(parseHold(stored, NOW)).toBeUndefined();
});

test("a task that fails over a long wait says until when, that nothing was sent, and how to send one request", () => {
  expect(heldFault(hold({ retryAfterMs: 3_600_000 }), NOW, fails)).toEqual({
    ...busy,
    message: `Too busy. The provider asks to wait until ${new Date(NOW + 3_600_000).toISOString()}. No request was sent.`,
    hint: expect.stringContaining("subcrew resume RUN --retry-failed"),
    retryAfterMs: 3_600_000,
  });
});
