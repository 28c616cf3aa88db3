import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The doors of the package, and the source file of each. */
const doors: Readonly<Record<string, string>> = {
  ".": "../../src/index.ts",
  "./a2a": "../../src/doors/a2a.ts",
  "./agents": "../../src/doors/agents.ts",
  "./gemini": "../../src/doors/gemini.ts",
  "./mcp": "../../src/doors/mcp.ts",
  "./parallel": "../../src/doors/parallel.ts",
  "./schemas": "../../src/doors/schemas.ts",
  "./testing": "../../src/doors/testing.ts",
};

test("the package has exactly these doors", () => {
  const { exports } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    exports: Record<string, unknown>;
  };
  expect(
    Object.keys(exports)
      .filter((door) => !door.endsWith(".json"))
      .toSorted(),
  ).toEqual(Object.keys(doors).toSorted());
});

test("the doors export exactly these names", async () => {
  const names: Record<string, string[]> = {};
  for (const [door, file] of Object.entries(doors))
    names[door] = Object.keys((await import(file)) as object).toSorted();
  expect(names).toMatchSnapshot();
});

test("the version of the code is the version of the package", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  expect((await import("../../src/core/text/version.ts")).version).toBe(version);
});

/** The names of types in the list of a door. The compiler checks that each exists. */
function typesOf(door: string): string[] {
  const text = readFileSync(new URL(doors[door]!, import.meta.url), "utf8");
  return [...text.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(([, all, names = ""]) =>
    names.split(",").flatMap((entry) => {
      const [, type, name, as] = /^\s*(type )?(\w+)(?: as (\w+))?\s*$/.exec(entry) ?? [];
      return name !== undefined && (all !== undefined || type !== undefined) ? [as ?? name] : [];
    }),
  );
}

test.each([
  [
    "./parallel",
    `TaskProgress TaskResult ParallelToolDetails AgentConfig TeamMember TeamTask DagNode DagExecutionOptions
     ResourceLimits RetryConfig`,
  ],
  [
    "./gemini",
    `AgentDefinition LocalAgentDefinition RemoteAgentDefinition AgentInputs OutputObject SubagentActivityEvent
     AgentTerminateMode`,
  ],
])("the door %s exports every type that its system documents", (door, names) => {
  expect(typesOf(door)).toEqual(expect.arrayContaining(names.split(/\s+/)));
});
