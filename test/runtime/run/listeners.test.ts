import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { mapWithConcurrencyLimit } from "../../../src/doors/parallel.ts";
import { createCrew, defineAgent, defineTool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { call, calls, stage } from "../../support/stage.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** The warnings that Node prints on standard error. */
let warnings: string[] = [];
const note = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
beforeEach(() => {
  warnings = [];
  process.on("warning", note);
});
afterEach(() => void process.off("warning", note));

/** Node prints warnings one turn of the event loop later. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

const MANY = 24;
const look = defineTool({
  name: "look",
  description: "looks",
  input: z.object({ at: z.number() }),
  effect: "read",
  run: async (_, { signal }) => {
    await new Promise((resolve) => setImmediate(resolve));
    return String(signal.aborted);
  },
});

test("many tool calls in one turn cause no warning about listeners", async () => {
  const { result } = await stage(
    {
      lead: {
        tools: ["look"],
        says: [calls(...Array.from({ length: MANY }, (_, at) => ["look", { at }] as const)), "done"],
      },
    },
    { tools: [look] },
  );
  expect(result.status).toBe("ok");
  await settled();
  expect(warnings).toEqual([]);
});

test("many commands and searches in one turn cause no warning about listeners", async () => {
  const all = Array.from({ length: MANY }, (_, at) =>
    at % 2 === 0
      ? (["grep_files", { pattern: `needle${at}` }] as const)
      : (["bash", { command: `echo ${at}` }] as const),
  );
  const { result } = await stage(
    { lead: { tools: ["grep_files", "bash"], says: [calls(...all), "done"] } },
    { permissions: { mode: "bypass", sandbox: "off" }, env: { PATH: process.env["PATH"] } },
  );
  expect(result.status).toBe("ok");
  await settled();
  expect(warnings).toEqual([]);
});

test("many children of one task, in one batch and in many, cause no warning about listeners", async () => {
  const ids = Array.from({ length: MANY }, (_, at) => ({ id: `t${at}`, assignment: "go" }));
  const one = { agent: "scout", tasks: [{ id: "one", assignment: "go" }] };
  const { result } = await stage({
    lead: {
      tools: ["*", "task"],
      says: [
        call("task", { agent: "scout", tasks: ids }),
        calls(...Array.from({ length: MANY }, () => ["task", one] as const)),
        "done",
      ],
    },
    scout: { says: Array.from({ length: 2 * MANY }, () => "found") },
  });
  expect(result.status).toBe("ok");
  await settled();
  expect(warnings).toEqual([]);
});

test("many tasks, each with its own slot or waiting for one, cause no warning about listeners", async () => {
  const tasks = Array.from({ length: MANY }, () => ({ agent: "a", task: "go" }));
  for (const concurrency of [2, MANY]) {
    const crew = createCrew({
      cwd: tempFolder(),
      home: tempFolder(),
      env: { PATH: "/bin" },
      discover: false,
      agents: [defineAgent({ name: "a", description: "a", instructions: "a", tools: [] })],
      models: { m: scripted(...Array.from({ length: MANY }, () => "ok")) },
      concurrency,
    });
    expect(await crew.run({ mode: "parallel", tasks })).toMatchObject({ status: "ok" });
  }
  await settled();
  expect(warnings).toEqual([]);
});

test("a caller's own signal, given to a utility with many items, causes no warning about listeners", async () => {
  const { signal } = new AbortController();
  const items = Array.from({ length: MANY }, (_, at) => at);
  await mapWithConcurrencyLimit(items, 2, async (item) => item, signal);
  await settled();
  expect(warnings).toEqual([]);
});
