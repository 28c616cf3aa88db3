import { describe, expect, test } from "vitest";
import { parsePlan } from "../core/plan/check.ts";
import type { Plan } from "../core/plan/plan.ts";
import { isCrewError } from "../core/schema/error.ts";
import { prompts } from "../embedded.ts";
import { compile } from "./compile.ts";

const retry = { maxAttempts: 2, backoffMs: 5 };
const resourceLimits = { maxTurns: 3 };

describe("each mode compiles to its plan", () => {
  test.each<[string, unknown, Plan]>([
    [
      "single",
      { mode: "single", task: " go {x} " },
      { nodes: { task: { kind: "task", task: { prompt: "go {x}", refs: {} } } }, output: "task" },
    ],
    [
      "single with all options",
      {
        task: "go",
        agent: "scout",
        model: ["m", "n"],
        tools: [],
        thinking: "low",
        systemPrompt: "s",
        cwd: "sub",
        schema: { type: "object" },
        retry,
        resourceLimits,
        name: "run",
        maxConcurrency: 2,
        context: "c",
        contextFiles: ["f"],
        gitContext: true,
      },
      {
        name: "run",
        concurrency: 2,
        context: { context: "c", contextFiles: ["f"], gitContext: true },
        nodes: {
          scout: {
            kind: "task",
            task: {
              agent: "scout",
              model: ["m", "n"],
              tools: [],
              thinking: "low",
              systemPrompt: "s",
              cwd: "sub",
              schema: { type: "object" },
              retry,
              resourceLimits,
              prompt: "go",
              refs: {},
            },
          },
        },
        output: "scout",
      },
    ],
    [
      "parallel: a reference is a dependency",
      {
        tasks: [
          { task: "a", name: "first" },
          { task: "b {task_0} {result:first} {task:0}" },
          { task: "c", agent: "scout" },
        ],
      },
      {
        nodes: {
          first: { kind: "task", task: { prompt: "a", refs: {}, label: "first" } },
          task_1: {
            kind: "task",
            task: {
              prompt: "b {task_0} {result:first} {task:0}",
              refs: { task_0: "first", "result:first": "first", "task:0": "first" },
            },
          },
          scout: { kind: "task", task: { agent: "scout", prompt: "c", refs: {} } },
          all: { kind: "join", needs: ["first", "task_1", "scout"], pick: "settled" },
        },
        output: "all",
      },
    ],
    [
      "parallel: settings for all tasks apply where a task sets nothing",
      {
        tasks: [{ task: "a" }, { task: "b", model: "own", retry: { maxAttempts: 9, backoffMs: 0 } }],
        model: "common",
        retry,
      },
      {
        nodes: {
          task_0: { kind: "task", task: { model: "common", retry, prompt: "a", refs: {} } },
          task_1: {
            kind: "task",
            task: { model: "own", retry: { maxAttempts: 9, backoffMs: 0 }, prompt: "b", refs: {} },
          },
          all: { kind: "join", needs: ["task_0", "task_1"], pick: "settled" },
        },
        output: "all",
      },
    ],
    [
      "chain",
      { chain: [{ task: "a" }, { task: "b {previous}", name: "second", retry }, { task: "c {previous} {task_0}" }] },
      {
        nodes: {
          step_1: { kind: "task", task: { prompt: "a", refs: {} } },
          second: {
            kind: "task",
            needs: ["step_1"],
            task: { retry, prompt: "b {previous}", refs: { previous: "step_1" }, label: "second" },
          },
          step_3: {
            kind: "task",
            needs: ["second"],
            task: { prompt: "c {previous} {task_0}", refs: { previous: "second", task_0: "step_1" } },
          },
        },
        output: "step_3",
      },
    ],
    [
      "race between models",
      { race: { task: "a {task_0}", models: ["x/one", "two"], retry, acceptSchema: { type: "object" } } },
      {
        nodes: {
          x_one: {
            kind: "task",
            task: {
              model: "x/one",
              retry,
              prompt: "a {task_0}",
              refs: {},
              label: "x/one",
              acceptSchema: { type: "object" },
            },
          },
          two: {
            kind: "task",
            task: {
              model: "two",
              retry,
              prompt: "a {task_0}",
              refs: {},
              label: "two",
              acceptSchema: { type: "object" },
            },
          },
          winner: { kind: "join", needs: ["x_one", "two"], pick: "first" },
        },
        output: "winner",
      },
    ],
    [
      "race between agents, each on each model",
      { race: { task: "a", agents: ["s", "t"], models: ["m"] } },
      {
        nodes: {
          "s@m": { kind: "task", task: { agent: "s", model: "m", prompt: "a", refs: {}, label: "s@m" } },
          "t@m": { kind: "task", task: { agent: "t", model: "m", prompt: "a", refs: {}, label: "t@m" } },
          winner: { kind: "join", needs: ["s@m", "t@m"], pick: "first" },
        },
        output: "winner",
      },
    ],
    [
      "team: members with their own tasks run in parallel",
      { team: { members: [{ role: "sec", task: "check", model: "m" }, { role: "idle" }], tasks: [] } },
      {
        nodes: {
          sec: {
            kind: "task",
            task: {
              model: "m",
              prompt: "check",
              refs: {},
              label: "sec: sec",
              include: [],
              preface: "Your role in the team: sec",
            },
          },
          team: { kind: "join", needs: ["sec"], pick: "settled" },
        },
        output: "team",
      },
    ],
    [
      "team: results of dependencies are attached unless the prompt refers to them; the task's setting wins over its member's",
      {
        team: {
          objective: "ship",
          members: [{ role: "dev", retry, tools: ["glob"] }],
          tasks: [
            { id: "a", task: "a" },
            { id: "b", task: "b {task:a}", assignee: "dev", depends: ["a", "c"], tools: [] },
            { id: "c", task: "c" },
          ],
          maxConcurrency: 3,
        },
      },
      {
        concurrency: 3,
        nodes: {
          a: {
            kind: "task",
            task: { prompt: "a", refs: {}, label: "a", include: [], preface: "The team's objective: ship" },
          },
          b: {
            kind: "task",
            needs: ["a", "c"],
            task: {
              tools: [],
              retry,
              prompt: "b {task:a}",
              refs: { "task:a": "a" },
              label: "dev: b",
              include: ["c"],
              preface: "The team's objective: ship\nYour role in the team: dev",
            },
          },
          c: {
            kind: "task",
            task: { prompt: "c", refs: {}, label: "c", include: [], preface: "The team's objective: ship" },
          },
          team: { kind: "join", needs: ["a", "b", "c"], pick: "settled" },
        },
        output: "team",
      },
    ],
  ])("%s", (_what, input, wanted) => {
    const plan = compile(input);
    expect(plan).toEqual(wanted);
    // A compiled plan can be printed, parsed and compiled again.
    expect(compile(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  test("team: a review is a loop of work and review, an approval is a loop around it", () => {
    const asked = { prompt: "do {task:v}", refs: { "task:v": "v" }, include: [], revise: prompts.reviseWork };
    const tasks = [
      {
        id: "w",
        task: "do {task:v}",
        depends: ["v"],
        requiresApproval: true,
        review: { reviewer: "rev", maxIterations: 2 },
      },
      { id: "v", task: "v" },
    ];
    const plan = compile({ team: { members: [{ role: "rev", model: "strict" }], tasks } });
    const inner = {
      kind: "loop",
      body: {
        nodes: {
          work: {
            kind: "task",
            task: {
              prompt: prompts.carryOut,
              refs: { approval: "approval", task: { prompt: "plan" } },
              label: "w",
              resumes: "plan",
              revise: prompts.reviseWork,
            },
          },
          review: {
            kind: "task",
            needs: ["work"],
            task: {
              model: "strict",
              prompt: prompts.reviewWork,
              refs: { output: "work", task: { prompt: "plan" } },
              label: "rev: review of w",
            },
          },
        },
        output: "work",
      },
      until: "review",
      max: 2,
      exhausted: "accept",
    };
    expect(plan.nodes["w"]).toEqual({
      kind: "loop",
      needs: ["v"],
      body: {
        nodes: {
          plan: { kind: "task", task: { ...asked, label: "w, plan", planOnly: true } },
          approval: { kind: "gate", needs: ["plan"], question: prompts.approvePlan, refs: { output: "plan" } },
          work: { ...inner, needs: ["approval"] },
        },
        output: "work",
      },
      until: "approval",
      max: 20,
      exhausted: "fail",
    });
    expect(parsePlan(JSON.parse(JSON.stringify(plan)))).toBeTruthy();
  });
});

describe("placeholders that stay as text with a warning", () => {
  test.each<[string, unknown, string[]]>([
    [
      "a position that does not exist",
      { tasks: [{ task: "{task_4}" }] },
      [
        'The prompt of "task_0" contains {task_4}, which does not refer to another task; the placeholder stays in the text.',
      ],
    ],
    [
      "itself",
      { tasks: [{ task: "{task_0}" }] },
      [
        'The prompt of "task_0" contains {task_0}, which does not refer to another task; the placeholder stays in the text.',
      ],
    ],
    [
      "{previous} in a first step",
      { chain: [{ task: "{previous}" }] },
      [
        'The prompt of "step_1" contains {previous}, which does not refer to another task; the placeholder stays in the text.',
      ],
    ],
    [
      "a later step",
      { chain: [{ task: "{task_1}" }, { task: "b" }] },
      [
        'The prompt of "step_1" contains {task_1}, which does not refer to another task; the placeholder stays in the text.',
      ],
    ],
    ...(
      [
        ["a misspelt {previous}", "{previuos}"],
        ["{previous} in another case", "{Previous}"],
        ["a misspelt name of an earlier step", "{task:fnid}"],
        ["a misspelt prefix", "{taks:find}"],
      ] as const
    ).map(([what, placeholder]): [string, unknown, string[]] => [
      what,
      {
        chain: [
          { name: "find", task: "a" },
          { name: "last", task: `${placeholder} {previous}` },
        ],
      },
      [
        `The prompt of "last" contains ${placeholder}, which does not refer to another task; the placeholder stays in the text.`,
      ],
    ]),
  ])("%s", (_what, input, notes) => {
    expect(compile(input).notes).toEqual(notes);
    expect(() => compile(input, { strict: true })).toThrow("which does not refer to another task.");
  });

  test("braces that are not a reference stay without a warning", () => {
    const { notes, nodes } = compile({
      tasks: [{ task: "class A { constructor() {} } {constructor} {toString} {x} ${y}" }],
    });
    expect(notes).toBeUndefined();
    expect(nodes["task_0"]).toMatchObject({ task: { refs: {} } });
  });
});

describe("inputs that are refused", () => {
  test.each<[string, unknown, string, string]>([
    ["not an object", "go", "BAD_INPUT", "The input is not an object."],
    ["no mode", { mod: "x" }, "BAD_INPUT", "The input names no mode."],
    ["two modes", { task: "x", chain: [] }, "BAD_INPUT", "The input names 2 modes (task, chain)."],
    ["an unknown mode", { mode: "singel", task: "x" }, "BAD_INPUT", 'Unknown mode "singel".'],
    ["blank text", { task: "  " }, "BAD_INPUT", '"task" of the single input is empty.'],
    ["no tasks", { tasks: [] }, "BAD_INPUT", '"tasks" of the parallel input is empty.'],
    ["an unknown key", { task: "x", modle: "m" }, "BAD_INPUT", 'The single input has an unknown key "modle".'],
    ["a team without tasks", { team: { members: [{ role: "dev" }] } }, "BAD_INPUT", "The team has nothing to do."],
    [
      "a role that no member has",
      { team: { members: [{ role: "dev" }], tasks: [{ id: "a", task: "a", assignee: "dve" }] } },
      "BAD_INPUT",
      'Task "a" is assigned to "dve", which is not a role of the team.',
    ],
    [
      "a reviewer that does not exist",
      { team: { members: [{ role: "dev" }], tasks: [{ id: "a", task: "a", review: { reviewer: "rev" } }] } },
      "BAD_INPUT",
      'The review of task "a" is assigned to "rev", which is not a role of the team.',
    ],
    [
      "two members with one role",
      { team: { members: [{ role: "dev" }, { role: "dev" }], tasks: [{ id: "a", task: "a" }] } },
      "PLAN_DUPLICATE_ID",
      'Two members have the role "dev".',
    ],
    [
      "two tasks with one id",
      {
        team: {
          tasks: [
            { id: "a", task: "a" },
            { id: "a", task: "b" },
          ],
        },
      },
      "PLAN_DUPLICATE_ID",
      'Two tasks are called "a".',
    ],
    [
      "a dependency that does not exist",
      { team: { tasks: [{ id: "a", task: "a", depends: ["b"] }] } },
      "PLAN_UNKNOWN_NEED",
      'Task "a" depends on "b", which is not a task of the team.',
    ],
    [
      "tasks that wait for each other",
      {
        team: {
          tasks: [
            { id: "a", task: "a", depends: ["b"] },
            { id: "b", task: "b", depends: ["a"] },
          ],
        },
      },
      "PLAN_CYCLE",
      "The plan has a cycle: a -> b -> a.",
    ],
    [
      "tasks that refer to each other",
      {
        tasks: [
          { task: "{task_1}", name: "a" },
          { task: "{task_0}", name: "b" },
        ],
      },
      "PLAN_CYCLE",
      "The plan has a cycle: a -> b -> a.",
    ],
  ])("%s", (_what, input, code, message) => {
    let error: unknown;
    try {
      compile(input);
    } catch (thrown) {
      error = thrown;
    }
    expect(isCrewError(error) && [error.code, error.message]).toEqual([code, message]);
  });
});
