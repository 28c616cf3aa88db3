import { describe, expect, test } from "vitest";
import { failed, type Outcome } from "../outcome/outcome.ts";
import type { JoinNode } from "../plan/plan.ts";
import { defined } from "../text/defined.ts";
import { gathered, joinOutcome } from "./join.ts";
import { entryOf, type ScheduleEntry } from "./schedule.ts";

const ok = (output: string, data?: unknown): Outcome => ({ status: "ok", output, ...defined({ data }) });

/** A join and the outcomes of its dependencies so far; the order of the keys is the order in which they ended. */
function joinOf(
  more: Pick<JoinNode, "pick"> & Partial<JoinNode>,
  needs: readonly string[],
  outcomes: Record<string, Outcome>,
  labels: Record<string, string> = {},
): [ScheduleEntry, Map<string, ScheduleEntry>] {
  const entries = new Map<string, ScheduleEntry>();
  for (const id of needs) {
    const label = labels[id];
    const entry = entryOf(id, { kind: "task", task: { prompt: "x", ...defined({ label }) } });
    entry.outcome = outcomes[id];
    entry.rank = Object.keys(outcomes).indexOf(id);
    entries.set(id, entry);
  }
  const join = entryOf("j", { kind: "join", needs, ...more });
  join.needs = [...needs];
  join.open = needs.filter((id) => !outcomes[id]).length;
  join.good = needs.filter((id) => outcomes[id]?.status === "ok").length;
  return [join, entries];
}

describe("a join of the kind `settled`", () => {
  test("waits for all of its dependencies", () => {
    expect(joinOutcome(...joinOf({ pick: "settled" }, ["a", "b"], { a: ok("1") }))).toBeUndefined();
  });

  test("returns every output under its name, in the order of the dependencies", () => {
    expect(joinOutcome(...joinOf({ pick: "settled" }, ["a", "b"], { b: ok("2"), a: ok("1") }))).toEqual({
      status: "ok",
      output: "## a\n\n1\n\n## b\n\n2",
      from: ["a", "b"],
    });
  });

  test("adds no heading for a single output", () => {
    expect(joinOutcome(...joinOf({ pick: "settled" }, ["a"], { a: ok("1") }))).toMatchObject({ output: "1" });
  });

  test("fails when one dependency failed, and still carries every output, also of the failed one", () => {
    const outcomes: Record<string, Outcome> = {
      a: ok("1"),
      b: { ...failed("CRASHED", "boom"), output: "half of it" },
      c: { status: "skipped", because: "b" },
      d: { status: "cancelled", reason: "why" },
    };
    expect(joinOutcome(...joinOf({ pick: "settled" }, ["a", "b", "c", "d"], outcomes))).toEqual({
      ...failed("SOME_FAILED", "3 of 4 did not succeed: b, c, d"),
      output:
        "## a\n\n1\n\n## b\n\n(failed) boom\n\nhalf of it\n\n## c\n\n(skipped) skipped because b did not succeed\n\n## d\n\n(cancelled) cancelled: why",
    });
  });

  test("names at most five of the failed dependencies", () => {
    const ids = ["a", "b", "c", "d", "e", "f", "g"];
    const outcome = joinOutcome(
      ...joinOf({ pick: "settled" }, ids, Object.fromEntries(ids.map((id) => [id, failed("CRASHED", id)]))),
    );
    expect(outcome).toMatchObject({ fault: { message: "7 of 7 did not succeed: a, b, c, d, e and 2 more" } });
  });
});

describe("a join of the kind `first`", () => {
  test("takes the first success with its data", () => {
    expect(joinOutcome(...joinOf({ pick: "first" }, ["a", "b"], { b: ok("2", { n: 2 }) }))).toEqual({
      status: "ok",
      output: "2",
      from: ["b"],
      data: { n: 2 },
    });
  });

  test("a failure does not win", () => {
    expect(joinOutcome(...joinOf({ pick: "first" }, ["a", "b"], { a: failed("CRASHED", "x") }))).toBeUndefined();
  });

  test("when all fail, lists every failure by label, in the order of arrival", () => {
    const outcome = joinOutcome(
      ...joinOf(
        { pick: "first" },
        ["a", "b"],
        { b: failed("CRASHED", "second"), a: failed("CRASHED", "first") },
        { a: "openai/gpt", b: "other" },
      ),
    );
    expect(outcome).toEqual(failed("ALL_FAILED", "All contenders failed:\n[other]: second\n[openai/gpt]: first"));
  });

  test("takes the requested number of successes, and no more", () => {
    const needs = ["a", "b", "c", "d"];
    expect(joinOutcome(...joinOf({ pick: "first", count: 2 }, needs, { c: ok("3") }))).toBeUndefined();
    expect(
      joinOutcome(...joinOf({ pick: "first", count: 2 }, needs, { c: ok("3"), b: failed("CRASHED", "x"), a: ok("1") })),
    ).toEqual({ status: "ok", output: "## a\n\n1\n\n## c\n\n3", from: ["a", "c"] });
  });

  test("fails as soon as too few candidates are left", () => {
    const outcome = joinOutcome(...joinOf({ pick: "first", count: 2 }, ["a", "b"], { a: failed("CRASHED", "x") }));
    expect(outcome).toMatchObject({ fault: { code: "ALL_FAILED", message: "Fewer than 2 succeeded:\n[a]: x" } });
  });
});

test("a cancelled join reports its gathered successes", () => {
  expect(gathered(...joinOf({ pick: "settled" }, ["a", "b"], { a: ok("1") }))).toEqual({ output: "1" });
  expect(gathered(...joinOf({ pick: "settled" }, ["a", "b"], { a: failed("CRASHED", "x") }))).toEqual({});
});
