import { describe, expect, test } from "vitest";
import { failed } from "../../../src/core/outcome/outcome.ts";
import type { Body, Node } from "../../../src/core/plan/plan.ts";
import type { KeptEvent } from "../../../src/core/run/event.ts";
import type { Call } from "../../../src/core/task/engine.ts";
import { team } from "../../../src/modes/team.ts";
import { type Act, bad, line, observe, ok, task } from "./lab.ts";

const plan = (nodes: Record<string, Node>, output = Object.keys(nodes).at(-1)!): Body => ({ nodes, output });
const all = (...needs: string[]): Node => ({ kind: "join", needs, pick: "settled" });
const outcomes = (seen: { state: { nodes: ReadonlyMap<string, { outcome: unknown }> } }): Record<string, unknown> =>
  Object.fromEntries([...seen.state.nodes].map(([path, { outcome }]) => [path, outcome]));
const byPath =
  (acts: Record<string, Act | ((call: Call) => Act)>) =>
  (call: Call): Act => {
    const act = acts[call.path] ?? ok(call.path);
    return typeof act === "function" ? act(call) : act;
  };
const started = (events: readonly KeptEvent[]): string[] =>
  events.flatMap((event) => (event.type === "node.started" ? [event.path] : []));

describe("slots", () => {
  const single = (agent: string) => ({ mode: "single", task: "help", agent });

  test("a lead releases its slot while its helper works, and takes it again before it continues", async () => {
    const seen = await observe({
      plan: plan({ lead: task("lead"), other: task("other"), both: all("lead", "other") }),
      slots: 1,
      act: byPath({ lead: ok("led", { delegates: [single("scout")] }) }),
    });
    expect(seen.performed).toEqual(["lead#1", "other#1", "lead/scout#1"]);
    expect(seen.mostAtOnce).toBe(1);
  });

  test.each([[[0]], [[1]], [[0, 0, 1]], [[0, 1, 1, 1, 0, 0]]])(
    "a tool that delegates while the slot of another tool is being taken again neither loses nor keeps a slot (%j)",
    async (choices) => {
      const help = single("h");
      const seen = await observe({
        plan: plan({
          lead: task("lead"),
          o0: task("o0"),
          o1: task("o1", {}, ["o0"]),
          o2: task("o2", {}, ["o1"]),
          end: all("lead", "o2"),
        }),
        slots: 1,
        choices,
        act: ({ path }) =>
          ok(path, path === "lead" ? { tracks: [[help], ["moment", "moment", "moment", help]] } : { moments: 2 }),
      });
      expect(seen.mostAtOnce).toBe(1);
      expect(seen.performed.toSorted()).toEqual(["lead#1", "lead.2/h#1", "lead/h#1", "o0#1", "o1#1", "o2#1"]);
      expect(seen.executed.outcome.status).toBe("ok");
    },
  );

  test("a nested plan with its own slot limit also uses slots of the run", async () => {
    const many = {
      nodes: { a: task("a"), b: task("b"), c: task("c"), all: all("a", "b", "c") },
      output: "all",
      concurrency: 1,
    };
    const seen = await observe({
      plan: plan({ lead: task("lead"), other: task("other"), both: all("lead", "other") }),
      slots: 2,
      act: byPath({ lead: ok("led", { delegates: [many] }), other: ok("other", { moments: 5 }) }),
    });
    expect(seen.mostAtOnce).toBe(2);
    const events = seen.events
      .filter(({ path }) => /^lead\/[abc]$/.test(path))
      .map(({ path, type }) => `${type} ${path}`);
    expect(events).toEqual([
      "node.started lead/a",
      "node.ended lead/a",
      "node.started lead/b",
      "node.ended lead/b",
      "node.started lead/c",
      "node.ended lead/c",
    ]);
  });
});

describe("the effect of a failure on other nodes", () => {
  test("all dependents are skipped, with the failed node as reason", async () => {
    const seen = await observe({
      plan: plan({ a: task("a"), b: task("b", {}, ["a"]), c: task("c", {}, ["b"]), d: task("d"), end: all("c", "d") }),
      act: byPath({ a: bad("no luck") }),
    });
    expect(outcomes(seen)).toMatchObject({
      a: { status: "failed" },
      b: { status: "skipped", because: "a" },
      c: { status: "skipped", because: "a" },
      d: { status: "ok" },
      end: {
        status: "failed",
        fault: { code: "SOME_FAILED" },
        output: "## c\n\n(skipped) skipped because a did not succeed\n\n## d\n\nd",
      },
    });
    expect(seen.performed).toEqual(["a#1", "d#1"]);
  });

  test("a task that throws fails, and its slot is released", async () => {
    const seen = await observe({
      plan: plan({ a: task("a"), b: task("b"), end: all("a", "b") }),
      slots: 1,
      act: byPath({ a: { ends: "throws" } }),
    });
    expect(outcomes(seen)).toMatchObject({
      a: { status: "failed", fault: { code: "CRASHED", message: "The task lab/a crashed: a threw" } },
      b: { status: "ok" },
    });
  });

  test("a running task that is no longer needed is stopped", async () => {
    const seen = await observe({
      plan: plan({ slow: task("slow"), broken: task("broken"), end: task("end", {}, ["slow", "broken"]) }),
      act: byPath({ slow: ok("slow", { moments: 99 }), broken: bad() }),
      choices: [1, 0],
    });
    expect(outcomes(seen)).toMatchObject({
      slow: { status: "cancelled", reason: "no longer needed" },
      end: { status: "skipped", because: "broken" },
    });
  });
});

describe("retries", () => {
  const retry = { retry: { maxAttempts: 3, backoffMs: 100 } };

  test("attempts are counted, and each failure is reported before the next attempt", async () => {
    const seen = await observe({
      plan: plan({ a: task("a", retry) }),
      act: ({ attempt }) => (attempt < 3 ? bad(`try ${attempt}`) : ok("at last")),
    });
    expect(seen.performed).toEqual(["a#1", "a#2", "a#3"]);
    expect(
      seen.events.flatMap((event) =>
        event.type === "node.retried"
          ? [{ attempt: event.attempt, delayMs: event.delayMs, outcome: event.outcome }]
          : [],
      ),
    ).toMatchObject([
      { attempt: 1, delayMs: 113, outcome: { fault: { message: "try 1" } } },
      { attempt: 2, delayMs: 225, outcome: { fault: { message: "try 2" } } },
    ]);
    expect(seen.executed.outcome).toEqual({ status: "ok", output: "at last" });
  });

  test("a longer wait requested by the provider is respected", async () => {
    const limited = failed("MODEL_RATE_LIMIT", "slow down", { retryable: true, retryAfterMs: 30_000 });
    const seen = await observe({
      plan: plan({ a: task("a", retry) }),
      act: ({ attempt }) => (attempt === 1 ? { ends: limited } : ok()),
    });
    expect(seen.events.find(({ type }) => type === "node.retried")).toMatchObject({ delayMs: 33_750 });
  });

  test("a refusal is not retried", async () => {
    const seen = await observe({
      plan: plan({ a: task("a", retry) }),
      act: () => ({ ends: failed("DENIED", "not allowed") }),
    });
    expect(seen.performed).toEqual(["a#1"]);
  });

  test("a cancel during the wait ends it at once, and the task counts as cancelled, not failed", async () => {
    const seen = await observe({
      plan: plan({ a: task("a", retry) }),
      act: () => bad("try again"),
      heard: (event, { cancel }) => event.type === "node.retried" && cancel("enough of this"),
    });
    expect(seen.performed).toEqual(["a#1"]);
    expect(seen.executed.outcome).toEqual({ status: "cancelled", reason: "enough of this" });
  });

  test("attempt numbers continue after a crash, and used attempts stay used", async () => {
    const act = ({ attempt }: Call): Act => (attempt < 3 ? bad(`try ${attempt}`) : bad("the last"));
    const whole = await observe({ plan: plan({ a: task("a", retry) }), act });
    const numbers: Record<number, readonly string[]> = {};
    for (let cut = 1; cut <= whole.journal.length; cut += 1) {
      numbers[cut] = (
        await observe({ plan: plan({ a: task("a", retry) }), act, past: whole.journal.slice(0, cut) })
      ).performed;
    }
    expect(whole.journal.map(({ type }) => type)).toEqual([
      "run.started",
      "node.started",
      "node.retried",
      "node.started",
      "node.retried",
      "node.started",
      "node.ended",
    ]);
    expect(numbers).toEqual({
      1: ["a#1", "a#2", "a#3"],
      2: ["a#1", "a#2", "a#3"],
      3: ["a#2", "a#3"],
      4: ["a#2", "a#3"],
      5: ["a#3"],
      6: ["a#3"],
      7: [],
    });
  });
});

describe("loops", () => {
  const reviewed = team({
    mode: "team",
    team: {
      members: [{ role: "dev" }, { role: "rev" }],
      tasks: [{ id: "build", task: "build it", assignee: "dev", review: { reviewer: "rev", maxIterations: 3 } }],
    },
  });

  test("the round is part of the path", async () => {
    const seen = await observe({
      plan: reviewed,
      act: ({ path }) =>
        ok(path.endsWith("review") ? (path === "build.2/review" ? "APPROVED" : "more\nREVISION_NEEDED") : path),
    });
    expect(started(seen.events)).toEqual(["build", "build.1/work", "build.1/review", "build.2/work", "build.2/review"]);
    expect(seen.executed.outcomeOf("build")).toMatchObject({
      status: "ok",
      approved: true,
      output: "build.2/work",
      from: ["build.2/work"],
    });
  });

  test("a later round gets the task, the draft and the feedback", async () => {
    const prompts: string[] = [];
    await observe({
      plan: reviewed,
      act: ({ path, task }) => {
        if (path.endsWith("/work")) prompts.push(task.prompt);
        return ok(
          path.endsWith("review")
            ? path === "build.1/review"
              ? "mind the $& gap\nREVISION_NEEDED"
              : "APPROVED"
            : "draft {task} $$",
        );
      },
    });
    expect(prompts[0]).toBe("build it");
    expect(prompts[1]).toContain("The task:\nbuild it\n");
    expect(prompts[1]).toContain("Your earlier work:\ndraft {task} $$\n");
    expect(prompts[1]).toContain("What the reviewer asks for:\nmind the $& gap\n");
  });

  test("without an approval the LAST draft is accepted, and this is reported", async () => {
    const seen = await observe({
      plan: reviewed,
      act: ({ path }) => ok(path.endsWith("review") ? "never good enough\nREVISION_NEEDED" : path),
    });
    expect(seen.executed.outcomeOf("build")).toMatchObject({ status: "ok", output: "build.3/work" });
    expect(seen.state.warnings).toEqual([
      '"build" was not approved: 3 rounds of review did not approve the work. Its last version was accepted anyway.',
    ]);
  });

  test("a failed review does not discard the work", async () => {
    const seen = await observe({
      plan: reviewed,
      act: ({ path }) => (path.endsWith("review") ? bad("out of order") : ok("good work")),
    });
    expect(seen.executed.outcomeOf("build")).toMatchObject({ status: "ok", output: "good work" });
    expect(seen.state.warnings[0]).toContain("out of order");
  });

  test("work that fails ends the loop with its failure", async () => {
    const seen = await observe({
      plan: reviewed,
      act: ({ path }) => (path === "build.2/work" ? bad("gave up") : ok("more\nREVISION_NEEDED")),
    });
    expect(seen.executed.outcomeOf("build")).toMatchObject({ status: "failed", fault: { message: "gave up" } });
  });

  test("a loop whose output node never ran ends with the reason for that", async () => {
    const body: Body = {
      nodes: { first: task("first"), work: task("work", {}, ["first"]), decide: task("decide", {}, ["work"]) },
      output: "work",
    };
    const seen = await observe({
      plan: plan({ l: { kind: "loop", body, until: "decide", max: 2, exhausted: "accept" } }),
      act: byPath({ "l.1/first": bad("at once") }),
    });
    expect(seen.executed.outcome).toMatchObject({ status: "failed", fault: { message: "at once" } });
  });

  test("a loop body may refer to nodes around it: to an output and to the prompt of a task", async () => {
    const asked: string[] = [];
    const body: Body = {
      nodes: {
        work: { kind: "task", task: { prompt: "{o} / {p}", refs: { o: "before", p: { prompt: "before" } } } },
        decide: task("decide", {}, ["work"]),
      },
      output: "work",
    };
    const seen = await observe({
      plan: plan({
        zero: task("zero"),
        before: { kind: "task", task: { prompt: "do {zero}", refs: { zero: "zero" } } },
        l: { kind: "loop", body, until: "decide", max: 1, exhausted: "accept" },
      }),
      act: ({ path, task }) => {
        if (path === "l.1/work") asked.push(task.prompt);
        return ok(path);
      },
    });
    expect(asked).toEqual(["before / do zero"]);
    expect(seen.executed.outcome.status).toBe("ok");
  });
});

describe("gates", () => {
  const gated = team({
    mode: "team",
    team: {
      tasks: [
        { id: "plan", task: "plan it", requiresApproval: true },
        { id: "impl", task: "do {task:plan}" },
      ],
    },
  });
  const act = ({ path }: Call): Act => ok(path);

  test("an approval lets the work continue", async () => {
    const seen = await observe({ plan: gated, act, answer: () => ({ approve: true }) });
    expect(outcomes(seen)).toMatchObject({ plan: { status: "ok", output: "plan.1/work" }, impl: { status: "ok" } });
  });

  test("a rejection with feedback leads to another draft and another question", async () => {
    const seen = await observe({
      plan: gated,
      act,
      answer: (path) => (path === "plan.1/approval" ? { approve: false, text: "shorter" } : { approve: true }),
    });
    expect(seen.executed.outcomeOf("plan")).toMatchObject({ status: "ok", output: "plan.2/work" });
    expect(seen.events.find((event) => event.type === "node.started" && event.path === "plan.2/plan")).toMatchObject({
      prompt: expect.stringContaining("shorter"),
    });
    expect(seen.events.flatMap((event) => (event.type === "gate.opened" ? [event.question] : []))).toEqual([
      "Approve this plan? Nothing is changed until you approve it.\n\nplan.1/plan",
      "Approve this plan? Nothing is changed until you approve it.\n\nplan.2/plan",
    ]);
  });

  test("a rejection without feedback is final, and the work is kept", async () => {
    const seen = await observe({ plan: gated, act, answer: () => ({ approve: false }) });
    expect(outcomes(seen)).toMatchObject({
      plan: { status: "failed", fault: { code: "REJECTED" }, output: "plan.1/plan" },
      impl: { status: "skipped", because: "plan" },
    });
  });

  test("a gate that no person can answer fails and is never approved", async () => {
    const seen = await observe({ plan: gated, act, unattended: true });
    expect(outcomes(seen)).toMatchObject({
      plan: { status: "failed", fault: { code: "NEEDS_ANSWER" } },
      impl: { status: "skipped" },
    });
  });

  test("a question that could not be asked does not count as an approval", async () => {
    const seen = await observe({
      plan: gated,
      act,
      answer: () => {
        throw new Error("the line is dead");
      },
    });
    expect(outcomes(seen)).toMatchObject({
      plan: { status: "failed", fault: { code: "CRASHED" }, output: "plan.1/plan" },
      impl: { status: "skipped" },
    });
  });

  test("an approval that depends on a failed node does not count", async () => {
    const body: Body = {
      nodes: {
        work: task("work"),
        checks: task("checks"),
        decide: { kind: "gate", needs: ["work", "checks"], question: "good?", refs: {} },
      },
      output: "work",
    };
    const seen = await observe({
      plan: plan({ l: { kind: "loop", body, until: "decide", max: 2, exhausted: "accept" } }),
      act: byPath({ "l.1/checks": bad("red") }),
    });
    expect(seen.executed.outcome).toMatchObject({ status: "failed", fault: { message: "red" }, output: "l.1/work" });
  });

  test("a question that was answered before a crash is not asked again", async () => {
    const one = plan({ g: { kind: "gate", question: "go?", refs: {} }, a: task("a", {}, ["g"]) });
    const whole = await observe({ plan: one, act, answer: () => ({ approve: true, text: "go on" }) });
    const cut = whole.journal.findIndex(({ type }) => type === "gate.answered") + 1;
    const rest = await observe({
      plan: one,
      act,
      past: whole.journal.slice(0, cut),
      answer: () => ({ approve: false }),
    });
    expect(rest.events.map(line)).toEqual([
      'node.ended g {"outcome":{"status":"ok","output":"go on","data":{"approved":true}}}',
      'node.started a {"attempt":1,"kind":"task","prompt":"a"}',
      'node.ended a {"outcome":{"status":"ok","output":"a"}}',
    ]);
  });
});

describe("plan changes", () => {
  const base = plan({ a: task("a"), b: task("b", {}, ["a"]), end: all("a", "b") });
  const at =
    (
      when: number,
      change: Parameters<Parameters<NonNullable<Parameters<typeof observe>[0]["before"]>>[1]["change"]>[0],
    ) =>
    (step: number, control: { change(c: typeof change): void }) => {
      if (step === when) control.change(change);
    };

  test("a new task is executed, and the output includes it", async () => {
    const seen = await observe({
      plan: base,
      act: ({ path }) => ok(path),
      before: at(1, { newTasks: { c: task("c {a}", { refs: { a: "a" } }) } }),
    });
    expect(seen.executed.outcome).toMatchObject({ status: "ok", from: ["a", "b", "c"] });
    expect(seen.events.find((event) => event.type === "node.started" && event.path === "c")).toMatchObject({
      prompt: "c a",
    });
    expect(Object.keys(seen.state.plan!.nodes)).toEqual(["a", "b", "end", "c"]);
  });

  test("a waiting task gets other dependencies, and the results that are attached to it follow", async () => {
    const handed: unknown[] = [];
    const team2 = team({
      mode: "team",
      team: {
        tasks: [
          { id: "a", task: "a" },
          { id: "b", task: "b" },
          { id: "c", task: "c", depends: ["a"] },
        ],
      },
    });
    const seen = await observe({
      plan: team2,
      act: ({ path, attachments }) => {
        if (path === "c") handed.push(attachments);
        return ok(path, { moments: path === "a" ? 3 : 1 });
      },
      choices: [1, 0],
      before: at(0, { updateDependencies: { c: ["b"] } }),
    });
    expect(handed).toEqual([[{ title: "b", path: "b", text: "b" }]]);
    expect(started(seen.events)).toEqual(["a", "b", "c"]);
  });

  test("a node that a prompt refers to stays a dependency, whatever the new dependencies are", async () => {
    const referring = plan({
      a: task("a"),
      b: task("b"),
      c: task("c {a}", { refs: { a: "a" } }),
      end: all("a", "b", "c"),
    });
    const seen = await observe({
      plan: referring,
      act: ({ path, task }) => ok(path === "c" ? task.prompt : path, { moments: 2 }),
      before: at(0, { updateDependencies: { c: ["b"] } }),
    });
    expect(seen.executed.outcomeOf("c")).toEqual({ status: "ok", output: "c a" });
  });

  test("a running task that is cancelled by a change fails after its helpers have ended", async () => {
    const seen = await observe({
      plan: base,
      act: byPath({
        a: ok("a", { delegates: [{ mode: "single", task: "help", agent: "h" }] }),
        "a/h": ok("h", { moments: 9 }),
      }),
      before: at(3, { markFailed: { a: "takes too long" } }),
    });
    expect(outcomes(seen)).toMatchObject({
      a: { status: "failed", fault: { code: "MARKED_FAILED", message: "takes too long" } },
      b: { status: "skipped", because: "a" },
      "a/h": { status: "cancelled" },
    });
    const ends = seen.events.flatMap((event) => (event.type === "node.ended" ? [event.path] : []));
    expect(ends.indexOf("a/h")).toBeLessThan(ends.indexOf("a"));
  });

  test.each<[string, Parameters<ReturnType<typeof at>>[1] extends { change(c: infer C): void } ? C : never, string]>([
    ["an id that exists already", { newTasks: { a: task("again") } }, 'The plan already has a node "a".'],
    [
      "a dependency that does not exist",
      { newTasks: { c: task("c", {}, ["aa"]) } },
      'Node "c" needs "aa", which is not a node.',
    ],
    [
      "a cycle",
      { updateDependencies: { b: ["c"] }, newTasks: { c: task("c", {}, ["b"]) } },
      "The change would make a cycle: c -> b -> c.",
    ],
    [
      "a node that has started",
      { updateDependencies: { a: [] } },
      'Node "a" has already started, so its dependencies cannot change.',
    ],
    [
      "a node that does not exist",
      { markFailed: { z: "?" } },
      'The node "z" cannot be cancelled: the plan has no such node.',
    ],
    [
      "a loop without a node that decides",
      { newTasks: { l: { kind: "loop", body: plan({ w: task("w") }), until: "x", max: 1, exhausted: "accept" } } },
      'The plan\'s `until` "x" is not one of its nodes.',
    ],
    [
      "a join without any node left",
      { updateDependencies: { end: [] } },
      'Node "end" would be left with 0 nodes to join, which is too few.',
    ],
  ])("%s is refused, and nothing has changed", async (_what, change, message) => {
    const messages: string[] = [];
    const seen = await observe({
      plan: base,
      act: ({ path }) => ok(path),
      before: (step, control) => {
        if (step !== 0) return;
        try {
          control.change(change);
        } catch (error) {
          messages.push((error as Error).message);
        }
      },
    });
    expect(messages).toEqual([message]);
    expect(seen.events.map(line)).toEqual(
      (await observe({ plan: base, act: ({ path }) => ok(path) })).events.map(line),
    );
  });
});

describe("delegation after a crash", () => {
  const lead = plan({ lead: task("lead") });
  const ask = (prompt: string, agent = "scout") => ({ mode: "single", task: prompt, agent });

  test("a recorded helper result is used only for the same request", async () => {
    const whole = await observe({ plan: lead, act: byPath({ lead: ok("led", { delegates: [ask("where is a?")] }) }) });
    const cut = whole.journal.findIndex(({ type, path }) => type === "node.ended" && path === "lead/scout") + 1;
    const past = whole.journal.slice(0, cut);
    const same = await observe({
      plan: lead,
      past,
      act: byPath({ lead: ok("led", { delegates: [ask("where is a?")] }) }),
    });
    expect(same.performed).toEqual(["lead#1"]);
    const other = await observe({
      plan: lead,
      past,
      act: byPath({ lead: ok("led", { delegates: [ask("where is b?")] }) }),
    });
    expect(other.performed).toEqual(["lead#1", "lead.2/scout#1"]);
  });

  test("when a chain is requested again, the steps before the first changed step are reused", async () => {
    const chain = (last: string) => ({
      mode: "chain",
      chain: [{ task: "a" }, { task: "b {previous}" }, { task: `${last} {previous}` }, { task: "d" }],
    });
    const asks = (last: string) => byPath({ lead: ok("led", { delegates: [chain(last)] }) });
    const whole = await observe({ plan: lead, act: asks("sum up") });
    const past = whole.journal.filter(({ type, path }) => !(type === "node.ended" && path === "lead"));
    const other = await observe({ plan: lead, past, act: asks("translate") });
    expect(other.performed).toEqual(["lead#1", "lead/step_3#2", "lead/step_4#2"]);
    expect(other.state.nodes.get("lead/step_3")?.outcome).toMatchObject({ status: "ok" });
  });

  test("recorded results are found in any order of requests", async () => {
    const whole = await observe({
      plan: lead,
      act: byPath({ lead: ok("led", { delegates: [ask("a?"), ask("b?")] }) }),
    });
    const cut = whole.journal.findIndex(({ type, path }) => type === "node.ended" && path === "lead.2/scout") + 1;
    const turned = await observe({
      plan: lead,
      past: whole.journal.slice(0, cut),
      act: byPath({ lead: ok("led", { delegates: [ask("b?"), ask("a?"), ask("c?")] }) }),
    });
    expect(turned.performed).toEqual(["lead#1", "lead.3/scout#1"]);
  });

  test("a helper that its parent does not request again after a resume ends before the parent", async () => {
    const whole = await observe({ plan: lead, act: byPath({ lead: ok("led", { delegates: [ask("a?")] }) }) });
    const cut = whole.journal.findIndex(({ type, path }) => type === "node.started" && path === "lead/scout") + 1;
    const rest = await observe({ plan: lead, past: whole.journal.slice(0, cut), act: () => ok("alone") });
    expect(rest.events.map(({ type, path }) => `${type} ${path}`)).toEqual([
      "node.started lead",
      "node.ended lead/scout",
      "node.ended lead",
    ]);
  });

  test("the next attempt of a lead starts its helpers again", async () => {
    const seen = await observe({
      plan: plan({ lead: task("lead", { retry: { maxAttempts: 2, backoffMs: 1 } }) }),
      act: byPath({
        lead: ({ attempt }) =>
          attempt === 1 ? bad("again", { delegates: [ask("a?")] }) : ok("led", { delegates: [ask("a?")] }),
      }),
    });
    expect(seen.performed).toEqual(["lead#1", "lead/scout#1", "lead#2", "lead.2/scout#1"]);
  });

  test("background helpers end with their task", async () => {
    const seen = await observe({
      plan: plan({ lead: task("lead"), next: task("next", {}, ["lead"]) }),
      slots: 1,
      act: byPath({
        lead: ok("led", { abandons: [ask("a?")] }),
        "lead/scout": ok("late", { moments: 50, slowToStop: true }),
      }),
    });
    const ends = seen.events.flatMap((event) => (event.type === "node.ended" ? [event.path] : []));
    expect(ends).toEqual(["lead/scout", "lead", "next"]);
    expect(outcomes(seen)).toMatchObject({
      "lead/scout": { status: "cancelled", reason: "the task that asked for it has ended" },
      lead: { status: "ok" },
      next: { status: "ok" },
    });
    expect(seen.steps).toBeLessThan(20);
  });
});
