import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { tempFolder } from "../support/temp-folder.ts";

const root = join(import.meta.dirname, "../..");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, string | { default: string }>;
};
const doors = Object.entries(exports).flatMap(([door, to]) =>
  typeof to === "string" ? [] : [[door, to.default] as const],
);
const built = (file: string): Promise<Record<string, unknown>> =>
  import(join(root, file)) as Promise<Record<string, unknown>>;

test.each(doors)("the door %s is bundled, and exports the same as its source", async (door, file) => {
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

test("the bundled agents of the library equal the files, although they were read at build time", async () => {
  const { createCrew } = (await built("./dist/lib/index.js")) as typeof import("../../src/index.ts");
  const source = await import("../../src/index.ts");
  const bare = { home: false, discover: false, env: {} } as const;
  const listed = async (crew: Pick<import("../../src/index.ts").Crew, "agents">): Promise<unknown> =>
    JSON.parse(JSON.stringify((await crew.agents()).agents));
  expect(await listed(createCrew(bare))).toEqual(await listed(source.createCrew(bare)));
});

/** Runs a program that uses the built library, in an empty folder with an empty home folder. */
function program(code: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const folder = tempFolder();
  const text = code.replace('"subcrew"', JSON.stringify(pathToFileURL(join(root, "dist/lib/index.js")).href));
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      ["--input-type=module", "--eval", text],
      { cwd: folder, env: { PATH: process.env["PATH"], HOME: folder } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    ),
  );
}

test("a crew works with one import, no files and no key", async () => {
  const { code, stdout, stderr } = await program(
    'import { createCrew } from "subcrew"; console.log((await createCrew().run({ task: "What is here?" })).status);',
  );
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
});

test("an error that leaves the library has a readable stack", async () => {
  const { code, stderr } = await program('import { createCrew } from "subcrew"; createCrew({ modle: "fast" });');
  expect(code).toBe(1);
  expect(stderr).toContain('CrewError: The options object of createCrew has an unknown key "modle".');
  expect(stderr).toMatch(/\n +at checkCrewOptions .*\n +at createCrew /);
  expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(250);
});
