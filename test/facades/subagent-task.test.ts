import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { call, calls, crewOf, stage } from "../support/stage.ts";

const lead = { tools: ["*", "Task"], delegation: ["Task"] };
const ask = (subagent_type: string, more: object = {}) =>
  ["Task", { description: "find it", prompt: `Find it, ${subagent_type}.`, subagent_type, ...more }] as const;
const lastText = ({ messages }: ModelRequest): string => JSON.stringify(messages.at(-1));
const idIn = (request: ModelRequest): string => /(run_\w+\/[\w./-]+)/.exec(JSON.stringify(request.messages))![1]!;

test("several Task calls of one turn run at the same time", async () => {
  let together = 0;
  const met = deferred<string>();
  const both = (): Promise<string> => {
    together += 1;
    if (together === 2) met.resolve("found");
    return met.promise; // if the calls ran one after the other, they would never end
  };
  const { result, read, shown } = await stage({
    lead: { ...lead, says: [calls(ask("scout"), ask("sage")), "done"] },
    scout: { says: [both] },
    sage: { says: [both] },
  });
  expect(result.status).toBe("ok");
  expect(shown("lead")).toEqual(expect.arrayContaining(["Task", "TaskOutput"]));
  expect(shown("lead")).not.toContain("task");
  expect(read("lead").every((text) => /^found\n\n\[agentId: run_\w+\/lead/.test(text))).toBe(true);
});

test("an agent is resumed by its id and remembers its conversation", async () => {
  const { models, read } = await stage({
    lead: {
      ...lead,
      says: [
        calls(ask("scout")),
        (request) => ({
          calls: [{ name: "Task", input: { ...ask("scout")[1], prompt: "And then?", resume: idIn(request) } }],
        }),
        "done",
      ],
    },
    scout: { says: ["the first", "the second"] },
  });
  expect(models["scout"]!.requests[1]!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(read("lead")[1]).toContain("the second");
});

test("a failed agent brings its id and what it had, and can be continued", async () => {
  const { read } = await stage({
    lead: {
      ...lead,
      says: [
        calls(ask("scout", { max_turns: 1 })),
        (request) => ({ calls: [{ name: "Task", input: { ...ask("scout")[1], resume: idIn(request) } }] }),
        "done",
      ],
    },
    scout: {
      says: [
        { text: "half of it", calls: [{ name: "current_time", input: {} }] },
        { error: { code: "MODEL_AUTH", message: "no key", retryable: false } },
        "the rest",
      ],
    },
  });
  const [failed, resumed] = read("lead");
  expect(failed).toMatch(/^Subagent execution failed: [^]*no key[^]*half of it[^]*\[agentId: run_\w+\/lead\/scout\]$/);
  expect(resumed).toMatch(/^the rest\n\n\[agentId: run_\w+\/lead\.2\/scout\]$/);
});

test("with the setting output.box, as under the preset mycode, results end with a box", async () => {
  const both = { tasks: ["scout", "sage"].map((name) => ask(name)[1]) };
  const { read } = await stage(
    {
      lead: { ...lead, says: [calls(ask("scout")), calls(ask("scout", both)), "done"] },
      scout: { says: ["found", { text: "found", calls: [{ name: "current_time", input: {} }] }, "found"] },
      sage: { says: ["known"] },
    },
    { output: { box: true } },
  );
  expect(read("lead")[0]).toMatch(
    /^found\n\n\[agentId: \S+\]\n\n┌─ Subagent Result ─+\n│ Type: scout\n│ Task: find it\n│ Model: scout\n│ Duration: .+\n│ Turns: 1\n│ Tokens: \d+ in \/ \d+ out\n└─+$/,
  );
  expect(read("lead")[1]).toMatch(
    /┌─ Total ─+\n│ Tasks: 2\n│ Duration: .+\n│ Turns: 3\n│ Tokens: .+\n│ Tool calls: 1\n└─+$/,
  );
});

test("an unknown agent id cannot be resumed", async () => {
  const { read } = await stage({
    lead: { ...lead, says: [calls(ask("scout", { resume: "run_aaaaaaaaaaaa/lead/scout" })), "done"] },
    scout: { says: [] },
  });
  expect(read("lead")[0]).toBe("Resume failed: Session not found");
});

test("an agent cannot continue the conversation of its parent", async () => {
  const { read } = await stage({
    lead: {
      ...lead,
      says: [
        calls(ask("scout")),
        (request) => ({
          calls: [{ name: "Task", input: { ...ask("spy")[1], prompt: `The run is ${idIn(request).split("/")[0]}.` } }],
        }),
        "done",
      ],
    },
    scout: { says: ["found"] },
    spy: {
      ...lead,
      says: [
        (request) => {
          const run = /run_\w+/.exec(JSON.stringify(request.messages))![0];
          return { calls: [{ name: "Task", input: { ...ask("scout")[1], resume: `${run}/lead` } }] };
        },
        "I could not",
      ],
    },
  });
  expect(read("spy")[0]).toBe("Resume failed: Session not found");
});

test("the end of a background task is reported, and its output is in the named file", async () => {
  let file = "";
  const leadIsDone = deferred<string>();
  const { result, events } = await stage({
    lead: {
      ...lead,
      says: [
        calls(ask("scout", { run_in_background: true })),
        (request) => {
          file = /Output: ([^\\]+)/.exec(lastText(request))![1]!;
          leadIsDone.resolve("slowly found");
          return "I am done";
        },
        (request) =>
          /\/lead\/scout: ok\\n\\nslowly found/.test(lastText(request)) ? "now all is done" : "nobody told me",
      ],
    },
    scout: { says: [() => leadIsDone.promise] },
  });
  expect(result).toMatchObject({ status: "ok", output: "now all is done" });
  expect(existsSync(file) && readFileSync(file, "utf8")).toBe("slowly found\n");
  expect(events.some((event) => event.type === "message.sent" && event.path === "lead")).toBe(true);
});

test("TaskOutput waits for a task, reports its status, lists tasks and cancels them", async () => {
  const about =
    (action: string, more: object = {}) =>
    (request: ModelRequest) => ({
      calls: [{ name: "TaskOutput", input: { action, taskId: idIn(request), ...more } }],
    });
  const { read, result } = await stage({
    lead: {
      ...lead,
      says: [
        calls(ask("scout", { run_in_background: true })),
        about("result"),
        about("wait", { timeout: 1 }),
        about("cancel"),
        about("wait"),
        about("cancel"),
        about("status"),
        call("TaskOutput", { action: "list" }),
        call("TaskOutput", { action: "list", filter: "error" }),
        call("TaskOutput", { action: "status", taskId: "nope" }),
        "done",
      ],
    },
    scout: { says: [{ text: "too late", delayMs: 600_000 }] },
  });
  const [started, running, late, cancelled, waited, again, status, list, errors, unknown] = read("lead");
  expect(started).toMatch(/^Started in the background: find it \(scout\)\nTask ID: run_\w+\/lead\/scout\n/);
  expect(running).toBe("Task is still running. Use block=true to wait for completion.");
  expect(late).toBe("Task wait timeout (1ms)");
  expect(cancelled).toMatch(/^Task run_.* has been cancelled$/);
  expect(waited).toBe("Task completed with status: cancelled");
  expect(again).toBe("Task is not running or not found");
  expect(status).toMatch(/Type: scout\nDescription: find it\nStatus: cancelled/);
  expect(list).toMatch(/^Found 1 task\(s\):\n\n🚫 run_/);
  expect(errors).toMatch(/^Found 1 task\(s\):\n\n🚫 run_/);
  expect(unknown).toBe("Task not found: nope");
  expect(result.status).toBe("ok");
});

test("TaskOutput tells how many of its turns a running task has made", async () => {
  const firstTurn = deferred<void>();
  const looked = deferred<string>();
  const about = (action: string) => (request: ModelRequest) => ({
    calls: [{ name: "TaskOutput", input: { action, taskId: idIn(request) } }],
  });
  const { crew, models } = crewOf({
    lead: {
      ...lead,
      says: [
        calls(ask("scout", { run_in_background: true, max_turns: 4 })),
        async (request) => (await firstTurn.promise, about("status")(request)),
        about("list"),
        () => (looked.resolve("found"), "done"),
      ],
    },
    scout: { says: [call("current_time", {}), () => looked.promise] },
  });
  const run = crew.run({ mode: "single", agent: "lead", task: "Lead." });
  for await (const event of run) if (event.type === "turn.ended" && event.path === "lead/scout") firstTurn.resolve();
  const answers = models["lead"]!.requests.at(-1)!.messages.flatMap((message) =>
    message.role === "tool" ? message.results.map(({ text }) => text) : [],
  );
  const [, status, list] = answers;
  expect(status).toContain("\nStatus: running\nProgress: 1/4 turns (25%)\n");
  expect(list).toContain(" [running (1/4)] (");
});
