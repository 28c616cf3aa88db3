import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type CrewOptions, createCrew, defineAgent, defineTool, type Event } from "../../../src/index.ts";
import { estimateTokens, totalChars } from "../../../src/core/model/compact.ts";
import type { Message, ModelRequest } from "../../../src/core/model/model.ts";
import { type ScriptedModel, type ScriptedTurn, scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const KB = 1_024;
const tooLong: ScriptedTurn = { error: { code: "MODEL_CONTEXT", message: "too long", retryable: false } };
const look = (...ats: readonly string[]): ScriptedTurn => ({
  calls: ats.map((at) => ({ name: "look", input: { at } })),
});

/** Returns a text of some kilobytes with a mark at its beginning and end: `b7` is 7 KB long, `b` 20 KB. */
const looks = defineTool({
  name: "look",
  description: "looks",
  input: z.object({ at: z.string() }),
  effect: "read",
  run: ({ at }) =>
    `begin ${at}\n${`${"seen ".repeat(20)}\n`.repeat((Number(/\d+/.exec(at)?.[0] ?? 20) * KB) / 101)}end ${at}`,
});

const worker = (more: object = {}) =>
  defineAgent({ name: "worker", description: "works", instructions: "Work.", tools: ["look"], model: "fast", ...more });

/** Runs one task with a model of this context window. */
async function play(
  model: ScriptedModel,
  { window, agent, ...options }: CrewOptions & { window?: number; agent?: object } = {},
) {
  const fast = window === undefined ? "m" : { model: "m", contextWindow: window };
  const crew = createCrew({
    home: tempFolder(),
    discover: false,
    agents: [worker(agent)],
    tools: [looks],
    models: { m: model },
    config: { tiers: { fast } },
    ...options,
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Do it." });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return { crew, result: await run, compacted: events.filter((event) => event.type === "context.compacted") };
}

/** A model that plays these turns, then ends, and that answers every request for a summary in between. */
function answering(
  turns: readonly ScriptedTurn[],
  summary: (request: ModelRequest) => ScriptedTurn = () => "the summary",
): ScriptedModel {
  const left = [...turns];
  return scripted(
    ...Array.from(
      { length: 80 },
      () => (request: ModelRequest) => (isSummary(request) ? summary(request) : (left.shift() ?? "done")),
    ),
  );
}

/** The size of a request in tokens, as far as it is known before the provider counts it. */
const sizeOf = ({ system, tools, messages }: ModelRequest): number =>
  estimateTokens(system.length + JSON.stringify(tools).length + totalChars(messages));
const resultsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => (message.role === "tool" ? message.results.map(({ text }) => text) : []));
const isSummary = ({ system }: ModelRequest): boolean => system.startsWith("Summarise the work");

describe("a turn that reads more than the window", () => {
  test("of 20 files of 50 KB gets the beginning and end of each, and the file that has all of it", async () => {
    const cwd = tempFolder();
    const files = Array.from({ length: 20 }, (_, n) => `f${n}.txt`);
    for (const [n, name] of files.entries())
      writeFileSync(
        join(cwd, name),
        Array.from({ length: 780 }, (_, line) => `${n} ${line} ${"x".repeat(48)}`).join("\n"),
      );
    writeFileSync(join(cwd, "small.txt"), "all of it");
    const model = scripted(
      { calls: [...files, "small.txt"].map((path) => ({ name: "read_file", input: { path } })) },
      ({ messages }) => {
        const path = / in (\S+)\]/.exec(resultsOf(messages)[3]!)?.[1] ?? "";
        return { calls: [{ name: "read_file", input: { path } }] };
      },
      "done",
    );
    const { result, compacted } = await play(model, { cwd, agent: { tools: ["read_file"] } });
    expect(result).toMatchObject({ status: "ok", output: "done" });
    const [first, second, third] = model.requests as [ModelRequest, ModelRequest, ModelRequest];
    expect(sizeOf(second)).toBeLessThan(64_000 + sizeOf(first) / 2);
    const shown = resultsOf(second.messages);
    expect(shown.at(-1)).toContain("all of it");
    for (const [n, text] of shown.slice(0, -1).entries()) {
      expect(text).toMatch(new RegExp(`\\b${n} 0 x+`));
      expect(text).toMatch(new RegExp(`\\b${n} 779 x+`));
      expect(text).toMatch(/\n\[\d+ characters were left out; the whole result is in \S+\]\n/);
    }
    expect(resultsOf(third.messages).at(-1)).toContain("3 390 x"); // the kept file can be read
    expect(compacted).toHaveLength(1);
    expect(compacted[0]).not.toHaveProperty("summary");
  });

  test("leaves short results whole, and a resumed conversation has the same results", async () => {
    const model = scripted(look("a45", "b1", "c2"), "done");
    const home = tempFolder();
    const { crew, result } = await play(model, { window: 16_000, home });
    const [, second] = model.requests as [ModelRequest, ModelRequest];
    const [a = "", b = "", c = ""] = resultsOf(second.messages);
    expect([a.startsWith("begin a45\n"), a.endsWith("end a45"), a.length < 30 * KB]).toEqual([true, true, true]);
    expect([b.length, c.length].map((length) => Math.round(length / KB))).toEqual([1, 2]);
    const { plan, continues } = await crew.continuing({
      run: result.id,
      prompt: "More.",
      allowFailed: false,
      maxContinuations: 9,
      expiresAfterDays: 9,
    });
    const again = scripted("more");
    const later = createCrew({
      home,
      discover: false,
      agents: [
        defineAgent({ name: "worker", description: "works", instructions: "Work.", tools: ["look"], model: "m" }),
      ],
      tools: [looks],
      models: { m: again },
    });
    await later.run(plan, { continues });
    expect(resultsOf(again.requests[0]!.messages)).toEqual([a, b, c]);
  });
});

describe("a conversation that fills the window", () => {
  const letters = "abcdefghijkl".split("");

  test("is summarised as a whole, and fills at most half of the window afterwards", async () => {
    const window = 40_000;
    const model = answering(letters.map((at) => look(at)));
    const { result, compacted } = await play(model, { window });
    expect(result).toMatchObject({ status: "ok", output: "done" });
    const at = model.requests.findIndex(isSummary);
    const [summary, next] = model.requests.slice(at) as [ModelRequest, ModelRequest];
    expect(summary.system).toMatch(/decisions[^]*files[^]*failed attempts[^]*open steps/);
    const asked = JSON.stringify(summary.messages);
    for (const kept of ["begin a\\n", "end a", "Do it."]) expect(asked).toContain(kept);
    expect(JSON.stringify(next.messages)).toContain("the summary");
    const work = model.requests.filter((request) => !isSummary(request));
    for (const { system, tools } of work) expect([system, tools]).toEqual([work[0]!.system, work[0]!.tools]);
    expect(compacted.length).toBeGreaterThan(1);
    for (const { summary, after } of compacted) {
      expect(summary).toBe("the summary");
      expect(after).toBeLessThanOrEqual(window / 2);
    }
    for (const request of model.requests) expect(sizeOf(request)).toBeLessThan(window);
  });

  test("of a model whose window is not known is summarised before 128,000 tokens", async () => {
    const model = answering(letters.map((at) => look(`${at}45`)));
    const { compacted } = await play(model);
    expect(compacted).toHaveLength(1);
    expect(compacted[0]!.after).toBeLessThanOrEqual(64_000);
    for (const request of model.requests) expect(sizeOf(request)).toBeLessThan(128_000);
  });

  test("is summarised in pieces that fit, and keeps the current task, when a model with a smaller window continues it", async () => {
    const window = 16_000;
    const home = tempFolder();
    const before = await play(answering(letters.slice(0, 5).map((at) => look(`${at}40`))), { home });
    let made = 0;
    const model = answering(
      [...letters.map((at) => look(`${at}8`)), "done", ...letters.map((at) => look(`${at}8`))],
      ({ messages }) => {
        expect(JSON.stringify(messages).includes(`summary ${made}.`)).toBe(made > 0);
        made += 1;
        return `summary ${made}.`;
      },
    );
    const { crew } = await play(model, { home, window });
    const more = { run: before.result.id, prompt: "Now the roof.", allowFailed: false };
    made = 0;
    const { plan, continues } = await crew.continuing({ ...more, maxContinuations: 9, expiresAfterDays: 9 });
    const smaller = model.requests.length;
    expect(await crew.run(plan, { continues })).toMatchObject({ status: "ok", output: "done" });
    const requests = model.requests.slice(smaller);
    expect(requests.findIndex((request) => !isSummary(request))).toBeGreaterThan(3);
    for (const request of requests) expect(sizeOf(request)).toBeLessThan(window);
    expect(JSON.stringify(requests.at(-1)!.messages)).toContain("word for word:\\nNow the roof.");
  });

  test("is summarised in smaller pieces when the provider refuses one", async () => {
    const sizes: number[] = [];
    const model = answering([...["a", "b", "c", "d", "e"].map((at) => look(at)), tooLong], (request) => {
      sizes.push(sizeOf(request));
      return sizeOf(request) > 5_000 ? tooLong : `after ${sizes.length}`;
    });
    const { result, compacted } = await play(model);
    expect(result).toMatchObject({ status: "ok", output: "done" });
    expect(sizes[0]).toBeGreaterThan(5_000);
    expect(compacted[0]!.summary).toBe(`after ${sizes.length}`);
  });

  test("whose prompt and tools fill half of the window keeps the results that the model has not read yet", async () => {
    const first = answering(["done"]);
    const agent = { instructions: "Work.\n".repeat(4_000) };
    await play(first, { agent });
    const window = Math.floor(sizeOf(first.requests[0]!) * 1.9);
    const model = answering(letters.map((at) => look(`${at}3`)));
    const { compacted } = await play(model, { window, agent });
    expect(compacted.filter(({ summary }) => summary !== undefined).length).toBeGreaterThan(0);
    const work = model.requests.filter((request) => !isSummary(request)).slice(1);
    for (const [at, { messages }] of work.entries())
      expect(resultsOf(messages).at(-1)).toMatch(new RegExp(`^begin ${letters[at]}3\\n[^]*end ${letters[at]}3$`));
  });

  test("keeps the beginning and end of what it knows when the model makes no summary", async () => {
    const model = answering(
      letters.slice(0, 7).map((at) => look(at)),
      () => "",
    );
    const { result, compacted } = await play(model, { window: 40_000 });
    expect(result).toMatchObject({ status: "ok", output: "done" });
    expect(compacted[0]!.summary).toMatch(/^user: Do it\.[^]*characters were left out[^]*end /);
    expect(compacted[0]!.after).toBeLessThanOrEqual(20_000);
  });

  test("at the last turn of a task is summarised, and the result arrives", async () => {
    const model = answering([...["a", "b", "c", "d"].map((at) => look(at)), tooLong, "half"]);
    const { result } = await play(model, { agent: { limits: { maxTurns: 4 } } });
    expect(result).toMatchObject({ status: "ok", output: "half" });
    expect(model.requests.at(-1)).toMatchObject({ toolChoice: "none", tools: model.requests[0]!.tools });
    expect(resultsOf(model.requests.at(-1)!.messages).length).toBeLessThan(4);
  });
});
