import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

const root = join(import.meta.dirname, "../..");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, string | { default: string }>;
};
const doors = Object.entries(exports).flatMap(([door, to]) =>
  typeof to === "string" ? [] : [[door, to.default] as const],
);
const built = (file: string): Promise<Record<string, unknown>> =>
  import(join(root, file)) as Promise<Record<string, unknown>>;

test.each(doors)("the door %s is bundled, and offers what its source offers", async (door, file) => {
  expect(file).toBe(`./dist/lib/${door === "." ? "index" : door.slice(2)}.js`);
  const source = await built(door === "." ? "src/index.ts" : `src/doors/${door.slice(2)}.ts`);
  expect(Object.keys(await built(file)).toSorted()).toEqual(Object.keys(source).toSorted());
});

test("a tool whose input was written with the user's own zod works with the copy inside of the library", async () => {
  const { createCrew, defineAgent, defineTool } = (await built(
    "./dist/lib/index.js",
  )) as typeof import("../../src/index.ts");
  const { scripted } = (await built("./dist/lib/testing.js")) as typeof import("../../src/doors/testing.ts");
  const seen: unknown[] = [];
  const look = defineTool({
    name: "look",
    description: "looks",
    input: z.object({ at: z.string().describe("where"), often: z.int().default(3) }),
    effect: "read",
    run: (input) => {
      seen.push(input);
      return "seen";
    },
  });
  const model = scripted({ calls: [{ name: "look", input: { at: "here" } }] }, "done");
  const crew = createCrew({
    home: false,
    discover: false,
    tools: [look],
    agents: [defineAgent({ name: "a", description: "a", instructions: "a", tools: ["look"] })],
    models: { m: model },
    model: "m",
  });
  expect(await crew.run({ mode: "single", agent: "a", task: "look" })).toMatchObject({ status: "ok", output: "done" });
  expect(seen).toEqual([{ at: "here", often: 3 }]);
  const [first] = model.requests;
  expect(first?.tools[0]?.input).toMatchObject({
    properties: { at: { type: "string", description: "where" }, often: { type: "integer", default: 3 } },
    required: ["at"],
  });
});

test("the agents that the library brings are those of the files, although they were read when it was built", async () => {
  const { createCrew } = (await built("./dist/lib/index.js")) as typeof import("../../src/index.ts");
  const source = await import("../../src/index.ts");
  const bare = { home: false, discover: false, env: {} } as const;
  const listed = async (crew: Pick<import("../../src/index.ts").Crew, "agents">): Promise<unknown> =>
    JSON.parse(JSON.stringify((await crew.agents()).agents));
  expect(await listed(createCrew(bare))).toEqual(await listed(source.createCrew(bare)));
});
