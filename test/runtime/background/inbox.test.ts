import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { answerGates, answering } from "../../../src/cli/terminal/gates.ts";
import { ruleText } from "../../../src/core/rules/rule.ts";
import { decisionsIn } from "../../../src/core/run/past-decisions.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { type Script, scripted } from "../../../src/models/scripted/scripted.ts";
import type { Run } from "../../../src/runtime/run/run.ts";
import { readJournal } from "../../../src/runtime/store/read-journal.ts";

const root = mkdtempSync(join(tmpdir(), "subcrew-inbox-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let number = 0;
const never = new AbortController().signal;

const crewAt = (home: string, ...turns: readonly Script[]): Crew =>
  createCrew({
    cwd: root,
    home,
    userHome: root,
    discover: false,
    agents: [{ name: "scout", description: "Looks.", instructions: "Look." }],
    models: { m: scripted(...turns) },
    env: {},
  });
const home = (): string => join(root, String(++number));
const gated = {
  nodes: {
    work: { kind: "task", task: { agent: "scout", prompt: "Do it." } },
    ok: { kind: "gate", needs: ["work"], question: "Fine?" },
  },
  output: "ok",
} as const;

async function asks(crew: Crew): Promise<{ run: string; path: string; question: string; call?: string }> {
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(20)) {
    const [first] = await crew.kept.questions();
    if (first) return first;
  }
  throw new Error("nobody asked anything");
}

test("a run in the foreground can be answered by another process of the user", async () => {
  const where = home();
  const run = crewAt(where, "done").run(gated);
  const other = crewAt(where);
  const { path, question } = await asks(other);
  const receipt = await other.kept.tell(
    run.id,
    { do: "answer", path, question, answer: { approve: true, by: "the inbox" } },
    { waitMs: 60_000, signal: never },
  );
  expect(receipt).toEqual({ state: "done", code: "DONE", text: "The answer was accepted." });
  expect(await run).toMatchObject({ status: "ok" });
});

test("the first answer wins on all channels, and the second one is told who answered", async () => {
  const where = home();
  const run = crewAt(where, "done").run(gated);
  const other = crewAt(where);
  const { path } = await asks(other);
  expect(await run.answer(path, { approve: true, by: "the terminal" })).toBe(true);
  const late = await other.kept.tell(
    run.id,
    { do: "answer", path, answer: { approve: false } },
    { waitMs: 60_000, signal: never },
  );
  await run;
  expect(late).toEqual({
    state: "refused",
    code: "NOT_ASKED",
    text: '"ok" does not wait for an answer; the terminal has already answered.',
  });
  expect(run.state.nodes.get("ok")).toMatchObject({ status: "ok" });
});

test("an answer after the end of the run is refused with this reason, and is not stored for a run that will never read it", async () => {
  const where = home();
  const run = crewAt(where, "done").run(gated);
  const other = crewAt(where);
  const { path } = await asks(other);
  await run.answer(path, { approve: true, by: "the terminal" });
  await run;
  const options = { waitMs: 200_000, signal: never };
  expect(await other.kept.tell(run.id, { do: "answer", path, answer: { approve: false } }, options)).toEqual({
    state: "refused",
    code: "NOT_ASKED",
    text: '"ok" does not wait for an answer; the terminal has already answered.',
  });
  expect(await other.kept.tell(run.id, { do: "cancel", reason: "enough" }, options)).toEqual({
    state: "refused",
    code: "RUN_ENDED",
    text: "The run has ended.",
  });
  expect(readdirSync(join(where, "run-commands"))).toEqual([]);
});

test("an answer to a different question than the one shown is ignored", async () => {
  const where = home();
  const run = crewAt(where, "done").run(gated);
  const other = crewAt(where);
  const { path } = await asks(other);
  const receipt = await other.kept.tell(
    run.id,
    { do: "answer", path, question: "Delete everything?", answer: { approve: true } },
    { waitMs: 60_000, signal: never },
  );
  expect(receipt).toMatchObject({ state: "refused" });
  run.cancel();
  await run;
});

test("an answer to an interrupted run waits until it is resumed", async () => {
  const where = home();
  const first = crewAt(where, "done").run(gated);
  const { path, question } = await asks(crewAt(where));
  first.cancel("as if it had crashed");
  await first;
  // The state after a crash: without an end.
  const folder = join(where, "runs", first.id);
  const { events } = await readJournal(folder);
  const opened = events.findIndex(({ type }) => type === "gate.opened") + 1;
  const { readFileSync } = await import("node:fs");
  const lines = readFileSync(join(folder, "journal.jsonl"), "utf8").split("\n").slice(0, opened);
  writeFileSync(join(folder, "journal.jsonl"), `${lines.join("\n")}\n`);

  const crew = crewAt(where);
  expect(await crew.kept.look(first.id)).toMatchObject({ life: "interrupted" });
  expect(
    await crew.kept.tell(
      first.id,
      { do: "answer", path, question, answer: { approve: true, by: "the inbox" } },
      { waitMs: 0, signal: never },
    ),
  ).toBeUndefined();
  expect(await crew.kept.questions()).toMatchObject([{ answered: true, life: "interrupted" }]);
  expect(await crew.resume(first.id)).toMatchObject({ status: "ok" });
});

test("a question about a call can be answered by another process, with a reason", async () => {
  const where = home();
  const run = crewAt(where, { text: "", calls: [{ name: "ask", input: { question: "Which one?" } }] }, "Thanks.").run({
    mode: "single",
    agent: "scout",
    task: "x",
  });
  const other = crewAt(where);
  const asked = await asks(other);
  expect(asked.question).toContain("Which one?");
  const receipt = await other.kept.tell(
    run.id,
    { do: "answer", ...asked, answer: { approve: true, text: "The second." }, run: "another" } as never,
    { waitMs: 60_000, signal: never },
  );
  expect(receipt).toMatchObject({ state: "refused" }); // the run does not read a command with invalid fields
  const { path, question, call } = asked;
  const taken = await other.kept.tell(
    run.id,
    {
      do: "answer",
      path,
      question,
      ...(call !== undefined && { call }),
      answer: { approve: true, text: "The second." },
    },
    { waitMs: 60_000, signal: never },
  );
  expect(taken).toMatchObject({ state: "done" });
  expect(await run).toMatchObject({ status: "ok", output: "Thanks." });
});

test("a question in a terminal is withdrawn when another process answers it", async () => {
  const run: Run = crewAt(home(), "done").run(gated);
  const said: string[] = [];
  const ask = (_: unknown, signal: AbortSignal): Promise<undefined> => {
    setTimeout(() => void run.answer("ok", { approve: true, by: "the inbox" }), 20);
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
  };
  await answerGates(
    run,
    ask,
    answering(run, 0, (text) => said.push(text)),
  );
  expect(await run).toMatchObject({ status: "ok" });
  expect(said).toEqual(["ok: already approved by the inbox"]);
});

test("an answer to a permission request becomes a rule for exactly the calls that were shown", async () => {
  const at = { run: "run_x", path: "w", at: 1 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, contextTokens: 0, turns: 1 };
  const calls = [
    { id: "c1", name: "bash", input: { command: "npm test" } },
    { id: "c2", name: "write_file", input: { path: "a.txt" } },
  ];
  const decisions = decisionsIn(
    [
      { ...at, seq: 1, type: "turn.ended", turn: 1, text: "", calls, usage, cost: { usd: 0, unpriced: 0 } },
      { ...at, seq: 2, type: "gate.answered", answer: { approve: true, by: "me" }, call: "c1" },
      { ...at, seq: 3, type: "gate.answered", answer: { approve: false }, call: "c2" },
    ],
    (tool, input) =>
      tool === "bash"
        ? [{ kind: "command", command: (input as { command: string }).command }]
        : [{ kind: "path", path: "a.txt", change: true }],
  );
  expect(decisions.map(({ approve, rules }) => [approve, rules.map(ruleText)])).toEqual([
    [true, ["bash(=npm test)"]],
    [false, ["write_file(=a.txt)"]],
  ]);
});

test("no file is left in the command folder of a run that has ended", async () => {
  const where = home();
  const run = crewAt(where, "done").run(gated);
  const other = crewAt(where);
  const { path } = await asks(other);
  await other.kept.tell(run.id, { do: "answer", path, answer: { approve: true } }, { waitMs: 60_000, signal: never });
  await run;
  expect(readdirSync(join(where, "run-commands"))).toEqual([]);
});

test('the answer "always in this project": the same call needs no approval in the next run, any other call does', async () => {
  const where = home();
  const write = (path: string): Script => ({
    text: "",
    calls: [{ name: "write_file", input: { path, content: "x\n" } }],
  });
  const first = crewAt(where, write("kept.txt"), "done").run({ mode: "single", agent: "scout", task: "x" });
  const other = crewAt(where);
  const { path, question, call } = await asks(other);
  const answer = { approve: true, by: "the inbox", always: true, scope: "project" as const };
  await other.kept.tell(
    first.id,
    { do: "answer", path, question, answer, ...(call !== undefined && { call }) },
    { waitMs: 60_000, signal: never },
  );
  expect(await first).toMatchObject({ status: "ok" });

  rmSync(join(root, "kept.txt"), { force: true });
  const again = crewAt(where, write("kept.txt"), "done").run(
    { mode: "single", agent: "scout", task: "x" },
    { unattended: true },
  );
  expect(await again).toMatchObject({ status: "ok" });
  expect(readdirSync(root)).toContain("kept.txt");

  await crewAt(where, write("else.txt"), "done").run(
    { mode: "single", agent: "scout", task: "x" },
    { unattended: true },
  );
  expect(readdirSync(root)).not.toContain("else.txt");
});
