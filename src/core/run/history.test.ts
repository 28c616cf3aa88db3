import { describe, expect, test } from "vitest";
import { failed, type Outcome } from "../outcome/outcome.ts";
import type { Fact, KeptEvent } from "./event.ts";
import { historyOf, noHistory, renewable } from "./history.ts";

const ok: Outcome = { status: "ok", output: "fine" };
const bad = failed("CRASHED", "boom");
const cancelled: Outcome = { status: "cancelled", reason: "why" };

const began = (path: string, attempt = 1, kind: "task" | "gate" | "loop" = "task", prompt = "go"): [string, Fact] => [
  path,
  { type: "node.started", attempt, kind, ...(kind === "task" && { prompt }) },
];
const ended = (path: string, outcome: Outcome): [string, Fact] => [path, { type: "node.ended", outcome }];
const again = (path: string, attempt: number): [string, Fact] => [
  path,
  { type: "node.retried", attempt, outcome: bad, delayMs: 1 },
];
const answered = (path: string): [string, Fact] => [path, { type: "gate.answered", answer: { approve: true } }];

function journal(...facts: [string, Fact][]): KeptEvent[] {
  return facts.map(([path, fact], index) => ({ seq: index + 1, run: "r", path, at: 0, ...fact }));
}
const idsUnder = (events: KeptEvent[], prefix: string, options?: { retryFailed?: boolean }): string[] =>
  historyOf(events, options)
    .under(prefix)
    .map((past) => (past.type === "ended" ? past.id : "change"));

describe("the history that resume uses", () => {
  test("contains the performed nodes, in order, by path", () => {
    const events = journal(began("a"), began("b"), ended("b", ok), ended("a", bad), began("a.1/x"), ended("a.1/x", ok));
    expect(idsUnder(events, "")).toEqual(["b", "a"]);
    expect(idsUnder(events, "a.1/")).toEqual(["x"]);
  });

  test("leaves out derived outcomes: joins, skips and cancellations", () => {
    const events = journal(
      began("a"),
      ended("a", cancelled),
      ended("join", ok),
      ended("b", { status: "skipped", because: "a" }),
    );
    expect(idsUnder(events, "")).toEqual([]);
    expect(historyOf(events).ended("join")).toEqual(ok);
  });

  test("leaves out failures when failed tasks are retried", () => {
    const events = journal(began("a"), ended("a", bad), began("b"), ended("b", ok));
    expect(idsUnder(events, "", { retryFailed: true })).toEqual(["b"]);
  });

  test("contains changes of the plan in order", () => {
    const events = journal(
      began("a"),
      ended("a", ok),
      ["", { type: "plan.changed", change: {} }],
      began("b"),
      ended("b", ok),
    );
    expect(idsUnder(events, "")).toEqual(["a", "change", "b"]);
  });

  test("contains a node that was cancelled while it waited", () => {
    expect(idsUnder(journal(ended("a", failed("MARKED_FAILED", "enough"))), "")).toEqual(["a"]);
  });

  test("contains the last outcome of a node that ended twice", () => {
    const events = journal(
      began("a"),
      ended("a", cancelled),
      began("b"),
      ended("b", ok),
      began("a", 2),
      ended("a", ok),
    );
    expect(idsUnder(events, "")).toEqual(["b", "a"]);
  });
});

describe("attempts", () => {
  test.each<[string, [string, Fact][], object]>([
    ["nothing has started", [], { next: 1, used: 0, underWay: false }],
    ["the first attempt is running: it has to be repeated", [began("a")], { next: 1, used: 0, underWay: true }],
    ["the first attempt failed and is retried", [began("a"), again("a", 1)], { next: 2, used: 1, underWay: false }],
    ["the second attempt is running", [began("a"), again("a", 1), began("a", 2)], { next: 2, used: 1, underWay: true }],
    [
      "the second attempt was cancelled: the earlier attempts stay used",
      [began("a"), again("a", 1), began("a", 2), ended("a", cancelled)],
      { next: 3, used: 1, underWay: false },
    ],
    [
      "cancelled during the wait for the second attempt",
      [began("a"), again("a", 1), ended("a", cancelled)],
      { next: 2, used: 1, underWay: false },
    ],
    [
      "it failed: a retry of the run has all attempts again",
      [began("a"), again("a", 1), began("a", 2), ended("a", bad)],
      { next: 3, used: 0, underWay: false },
    ],
  ])("%s", (_what, facts, wanted) => {
    expect(historyOf(journal(...facts)).attempts("a")).toEqual(wanted);
  });
});

describe("answers", () => {
  test("an answer is kept until its gate is cancelled", () => {
    expect(historyOf(journal(began("g", 1, "gate"), answered("g"))).answer("g")).toEqual({ approve: true });
    expect(historyOf(journal(began("g", 1, "gate"), answered("g"), ended("g", cancelled))).answer("g")).toBeUndefined();
  });
});

describe("plans below tasks", () => {
  test("are found by their path and by the nodes that started in them", () => {
    const events = journal(
      began("lead"),
      began("lead/a"),
      began("lead.2/b"),
      began("other.1/x"),
      began("build", 1, "loop"),
      began("build.1/work"),
    );
    expect(
      historyOf(events)
        .delegated("lead")
        .map(({ prefix, number, spent, started }) => ({ prefix, number, spent, ids: [...started.keys()] })),
    ).toEqual([
      { prefix: "lead/", number: 1, spent: false, ids: ["a"] },
      { prefix: "lead.2/", number: 2, spent: false, ids: ["b"] },
    ]);
    expect(historyOf(events).delegated("build")).toEqual([]);
  });

  test("are discarded once the task is retried", () => {
    const events = journal(began("lead"), began("lead/a"), again("lead", 1), began("lead", 2), began("lead.2/a"));
    expect(
      historyOf(events)
        .delegated("lead")
        .map(({ spent }) => spent),
    ).toEqual([true, false]);
  });

  test("a task whose name ends in a number is not mistaken for the second plan of another task", () => {
    const events = journal(began("v1"), began("v1.2"), began("v1.2/a"));
    expect(historyOf(events).delegated("v1")).toEqual([]);
    expect(
      historyOf(events)
        .delegated("v1.2")
        .map(({ number }) => number),
    ).toEqual([1]);
  });
});

describe("a node that was running at the crash", () => {
  test("is ended once, the deepest first, when its parent ends", () => {
    const { close } = historyOf(
      journal(
        began("lead"),
        began("lead/a"),
        began("lead/a.2/x"),
        began("lead.2/b"),
        ended("lead.2/b", ok),
        began("leader"),
        began("lead.x"),
      ),
    );
    expect(close("lead")).toEqual(["lead/a.2/x", "lead/a"]);
    expect(close("lead")).toEqual([]);
    expect(close("leader")).toEqual([]);
  });

  test("is not reported when it ended in this process", () => {
    const { close } = historyOf(journal(began("lead"), began("lead/a")));
    expect(close("lead/a")).toEqual([]);
    expect(close("lead")).toEqual([]);
  });
});

test("the events of the current attempt are available to resume it", () => {
  const events = journal(began("a"), ["a", { type: "note", text: "first" }], again("a", 1), began("a", 2), [
    "a",
    { type: "note", text: "second" },
  ]);
  expect(
    historyOf(events)
      .events("a")
      .map(({ seq }) => seq),
  ).toEqual([4, 5]);
});

test("a new run has an empty history", () => {
  expect([
    noHistory.under(""),
    noHistory.attempts("a"),
    noHistory.ended("a"),
    noHistory.delegated("a"),
    noHistory.close("a"),
  ]).toEqual([[], { next: 1, used: 0, underWay: false }, undefined, [], []]);
});

test("a helper that ended after it was resumed alone is not reported as open when its parent task ends", () => {
  const events = journal(began("lead"), began("lead/helper"), began("lead/helper/scout"), began("lead/other"));
  const history = renewable(historyOf(events));
  history.renew("lead/helper", historyOf(events));
  expect(history.close("lead/helper")).toEqual(["lead/helper/scout"]);
  expect(history.close("lead")).toEqual(["lead/other"]);
});
