import { expect, test } from "vitest";
import { z } from "zod";
import { createCrew, defineTool } from "../index.ts";
import { scripted } from "../models/scripted/scripted.ts";
import { jsonSchemaFor, schemaNames } from "./schemas.ts";
import { createValidator } from "../runtime/task/compile-schema.ts";
import { eventSchema } from "../core/run/event.ts";
import { resultSchema } from "./result-schema.ts";

const touch = defineTool({
  name: "touch",
  description: "fails",
  input: z.object({ at: z.string() }),
  effect: "write",
  run: () => {
    throw new Error("no");
  },
});

test("events and results of real runs match the schemas, in zod and as JSON Schema", async () => {
  const crew = createCrew({
    home: false,
    discover: false,
    tools: [touch],
    permissions: { allow: ["touch"] },
    models: {
      a: scripted(
        {
          text: "Trying.",
          calls: [
            { name: "touch", input: { at: "x" } },
            { name: "touch", input: {} },
          ],
        },
        "done",
      ),
      b: scripted({ error: { code: "MODEL_REFUSED", message: "no", retryable: false } }),
      critic: scripted("Too short.\n\nREVISION_NEEDED", "APPROVED"),
      w: scripted("one", "two"),
    },
  });
  const check = await createValidator()(jsonSchemaFor("event"));
  const events = eventSchema();
  const seen = new Set<string>();
  const inputs = [
    {
      tasks: [
        { task: "x", model: "a" },
        { task: "y", model: "b" },
        { task: "z {task_1}", model: "a" },
      ],
    },
    {
      team: {
        members: [
          { role: "w", model: "w" },
          { role: "critic", model: "critic" },
        ],
        tasks: [{ id: "t", task: "Write.", assignee: "w", review: { reviewer: "critic" }, requiresApproval: true }],
      },
    },
  ] as const;
  for (const input of inputs) {
    const run = crew.run(input);
    for await (const event of run) {
      if (event.type === "gate.opened") await run.answer(event.path, { approve: true });
      seen.add(event.type);
      const plain: unknown = JSON.parse(JSON.stringify(event));
      expect([event.type, events.safeParse(plain).error?.message]).toEqual([event.type, undefined]);
      expect([event.type, check(plain)]).toEqual([event.type, undefined]);
    }
    const result: unknown = JSON.parse(JSON.stringify(await run));
    expect(resultSchema.safeParse(result).error?.message).toBeUndefined();
    expect((await createValidator()(jsonSchemaFor("result")))(result)).toBeUndefined();
  }
  expect([...seen]).toEqual(
    expect.arrayContaining(["run.started", "turn.ended", "tool.ended", "tool.rejected", "gate.answered", "node.ended"]),
  );
  expect(check({ type: "note", run: "r", path: "", at: 1, seq: 1, text: 3 })).toBeDefined();
});

test.each(schemaNames)("the schema %s is valid JSON Schema", async (name) => {
  expect(await createValidator()(jsonSchemaFor(name))).toBeTypeOf("function");
});

test("a team file in the documents' form matches the schema, and a misspelt key does not", async () => {
  const check = await createValidator()(jsonSchemaFor("team"));
  expect(check({ team: { members: [{ role: "writer", task: "Write." }] } })).toBeUndefined();
  expect(check({ team: { memebers: [] } })).toContain("additional properties");
});
