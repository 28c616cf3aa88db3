import { expect, test } from "vitest";
import { parseAgentFields } from "../../../src/formats/agent-fields.ts";
import { dialects } from "../../../src/formats/table.ts";
import { ownWriter } from "../../../src/formats/write/own.ts";
import { worldOf, callOf } from "../../support/task-world.ts";
import { assign } from "../../../src/runtime/task/assign.ts";

const read = (dialect: string, keys: string) =>
  dialects[dialect]!.read(`---\nname: a\ndescription: d\n${keys}\n---\nWork.\n`, { file: "/w/a.md", relative: "a.md" })
    .agents[0]!;

test.each([
  ["{ type: object }", { type: "object" }],
  ["null", null],
  ["a list of plants", "a list of plants"],
])("the output schema of an agent file keeps its value when it is read and written again: %s", (written, value) => {
  for (const dialect of ["omp", "own"]) {
    const agent = read(dialect, `output: ${written}`);
    expect(agent.agent.output).toEqual(value);
    const again = dialects["own"]!.read(ownWriter.write(agent, {}), { file: "/w/a.md", relative: "a.md" });
    expect(again.agents[0]!.agent.output).toEqual(value);
  }
  expect(parseAgentFields({ name: "a", description: "d", output: value })?.output).toEqual(value);
});

test("with an output that is not a schema, the task has no schema, or that of the call", async () => {
  const schema = { type: "object", required: ["ok"] };
  for (const output of [null, "a text"]) {
    const own = await assign(callOf({ schema }), worldOf({ agent: { output } }), () => {});
    expect("status" in own ? own : own.schema).toMatchObject(schema); // then the schema of the call is used
    const none = await assign(callOf({}), worldOf({ agent: { output } }), () => {});
    expect("status" in none ? none : [none.schema, none.completion]).toEqual([undefined, "text"]);
  }
});
