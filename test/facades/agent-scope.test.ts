import { expect, test } from "vitest";
import type { CrewOptions, RunOptions } from "../../src/index.ts";
import type { ModelRequest } from "../../src/core/model/model.ts";
import { call, type Cast, stage } from "../support/stage.ts";
import { tempFolder } from "../support/temp-folder.ts";

const file = (name: string, body: string): string =>
  `---\nname: ${name}\ndescription: d\ntools: read\nmodel: echo\n---\n${body}`;

/** A user and a project with agents of pi. Both have a `scout`; the other two exist only once. */
function place(): Pick<CrewOptions, "cwd" | "userHome"> {
  return {
    userHome: tempFolder({
      ".pi/agent/agents/scout.md": file("scout", "IS: the user's scout"),
      ".pi/agent/agents/mine.md": file("mine", "IS: the user's own"),
    }),
    cwd: tempFolder({
      ".pi/agents/scout.md": file("scout", "IS: the project's scout"),
      ".pi/agents/ours.md": file("ours", "IS: the project's own"),
    }),
  };
}

const echo = ({ system }: ModelRequest): string => /IS: (.*)/.exec(system)?.[1] ?? "nobody";

/** The agents that answer one call of `parallel` for each name, in this scope; an unknown agent gives its own answer. */
async function answered(
  names: readonly string[],
  scope: string | undefined,
  { spawns = "*", ...options }: CrewOptions & Readonly<{ spawns?: "*" | readonly string[] }> = {},
  run: RunOptions = {},
): Promise<readonly string[]> {
  const asked = names.map((agent) => call("parallel", { agent, task: "Who?", ...(scope && { agentScope: scope }) }));
  const cast: Cast = {
    lead: { tools: ["*", "parallel"], delegation: ["parallel"], spawns, says: [...asked, "done"] },
    echo: { says: names.map(() => echo) },
  };
  const { read } = await stage(cast, { ...place(), discover: true, trusted: true, ...options }, run);
  return read("lead").map(
    (text) => /(?:Unknown agent|Cannot spawn|the (?:user|project)'s \w+)/.exec(text)?.[0] ?? text,
  );
}

const unknown = "Unknown agent";

test.each<[preset: "pi-parallel" | "unified", scope: string | undefined, who: readonly string[]]>([
  ["pi-parallel", undefined, ["the user's scout", "the user's own", unknown]],
  ["pi-parallel", "user", ["the user's scout", "the user's own", unknown]],
  ["pi-parallel", "project", ["the project's scout", unknown, "the project's own"]],
  ["pi-parallel", "both", ["the project's scout", "the user's own", "the project's own"]],
  ["unified", undefined, ["the project's scout", "the user's own", "the project's own"]],
  ["unified", "user", ["the user's scout", "the user's own", unknown]],
  ["unified", "project", ["the project's scout", unknown, "the project's own"]],
  ["unified", "both", ["the project's scout", "the user's own", "the project's own"]],
])("with %s and agentScope %s, parallel starts %j", async (preset, scope, who) => {
  expect(await answered(["scout", "mine", "ours"], scope, { config: { preset } })).toEqual(who);
});

test("agentScope adds no agents of an untrusted project, and no agents that the user's own setting leaves out", async () => {
  const preset = "pi-parallel";
  expect(await answered(["scout", "ours"], "both", { config: { preset }, trusted: false })).toEqual([
    "the user's scout",
    unknown,
  ]);
  expect(await answered(["scout", "ours"], "both", { config: { preset, scope: "user" } })).toEqual([
    "the user's scout",
    unknown,
  ]);
});

test("agentScope changes nothing about the agents that the caller may start", async () => {
  const config = { preset: "pi-parallel" } as const;
  expect(await answered(["scout", "ours"], "both", { config, spawns: ["scout"] })).toEqual([
    "the project's scout",
    "Cannot spawn",
  ]);
  const env = { PATH: "/bin", PI_BLOCKED_AGENT: "ours" };
  expect(await answered(["scout", "ours"], "both", { config, env })).toEqual(["the project's scout", "Cannot spawn"]);
});
