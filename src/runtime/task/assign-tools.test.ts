import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  assignmentOf,
  forkOf,
  refusalOf,
  reportedIn,
  type WorldParts,
  worldOf,
} from "../../../test/support/task-world.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { Catalog } from "../../core/delegation/catalog.ts";
import type { Caller } from "../../core/delegation/spawn.ts";
import type { Task } from "../../core/plan/task.ts";
import { permit } from "../../core/policy/permit.ts";
import { createPolicy } from "../../core/policy/policy.ts";
import type { Call } from "../../core/task/engine.ts";
import type { PeerAsk } from "../../core/task/mcp-tools.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defineTool, type Tool } from "../../core/task/tool.ts";
import type { AccessRequest } from "../access/access.ts";
import type { World } from "./world.ts";

const tool = (name: string, effect: Tool["effect"] = "read", does?: Tool["does"]): Tool =>
  defineTool({ name, description: name, input: z.object({}), effect, ...(does && { does }), run: () => "" });

const namesOf = ({ tools, rights }: Assignment): readonly string[] =>
  [...tools.keys()].filter((name) => permit(rights, name).allowed);

const usable = async (...given: Parameters<typeof assignmentOf>): Promise<readonly string[]> =>
  namesOf(await assignmentOf(...given));

const tools = [tool("look"), tool("change", "write")];

describe("tools", () => {
  test("the agent has the tools it lists, limited by its parent and the policy", async () => {
    expect(await usable({ tools })).toEqual(["look", "change"]);
    expect(await usable({ tools, agent: { tools: ["look"] } })).toEqual(["look"]);
    expect(await usable({ tools, agent: { disallowedTools: ["look"] } })).toEqual(["change"]);
    expect(await usable({ tools }, {}, { depth: 1, ceiling: ["change"] })).toEqual(["change"]);
    expect(await usable({ tools, permissions: { mode: "plan" } })).toEqual(["look"]);
  });

  test("a resumed task has only the tools that it had before and that its parent has now", async () => {
    const had = async (more: Partial<Call>): Promise<readonly string[]> => usable({ tools }, {}, { depth: 1, ...more });
    expect(await had({ recordedRights: ["look"] })).toEqual(["look"]);
    expect(await had({ recordedRights: ["look", "change"], ceiling: ["change"] })).toEqual(["change"]);
    expect(await had({ recordedRights: ["look"], ceiling: ["change"] })).toEqual([]);
    expect(await had({ recordedRights: [], ceiling: ["change"] })).toEqual([]);
  });

  test("a task whose plan is not approved has no tool that changes something or starts agents", async () => {
    const all = [...tools, tool("ring", "read", "spawn"), tool("note", "write", "none")];
    const { assigned } = await reportedIn(worldOf({ tools: all }), { planOnly: true });
    expect(namesOf(assigned)).toEqual(["look"]);
    for (const name of ["change", "ring", "task"])
      expect(permit(assigned.rights, name).rule).toBe("its plan has to be approved first");
  });

  test.each<[limit: string, task: Partial<Task>, more: Partial<Call>]>([
    ["the tools of its parent", {}, { depth: 1, ceiling: ["look"] }],
    ["the tools that it had before a resume", {}, { depth: 1, recordedRights: ["look"] }],
    ["a plan that is not approved", { planOnly: true }, {}],
    ["a parent and a plan that is not approved", { planOnly: true }, { depth: 1, ceiling: ["look", "change"] }],
    ["plan mode", {}, { policy: createPolicy("plan") }],
    ["a deny rule of its parent", {}, { depth: 1, policy: createPolicy("default", { deny: [{ tool: "change" }] }) }],
  ])("tasks of one agent share their rights, except a task that is limited by %s", async (_limit, task, more) => {
    const world = worldOf({ tools, permissions: {} });
    const has = async (...limit: [Partial<Task>?, Partial<Call>?]): Promise<readonly string[]> =>
      namesOf((await reportedIn(world, ...limit)).assigned);
    for (let round = 0; round < 2; round += 1) {
      expect(await has(task, more)).toEqual(["look"]);
      expect(await has()).toEqual(["look", "change"]);
    }
    const [first, second] = [await reportedIn(world), await reportedIn(world)];
    expect(first.assigned.rights).toBe(second.assigned.rights);
  });

  test("a helper with fewer tools than its definition is reported with the lost tools and the rules; a person's task is not", async () => {
    const reducedBy = async (parts: WorldParts, more: Partial<Call>): Promise<unknown[]> => {
      const { facts } = await reportedIn(worldOf({ tools, ...parts }), {}, more);
      return facts.flatMap((fact) => (fact.type === "rights.reduced" ? [[fact.lost, fact.reason]] : []));
    };
    const ceiling = ["look"];
    const both = { agent: { tools: ["look", "change"] } };
    const lost = [["change"], "the parent of worker may not use the tool"];
    expect(await reducedBy(both, { depth: 1, ceiling })).toEqual([lost]);
    expect(await reducedBy({}, { depth: 1, ceiling })).toEqual([lost]);
    expect(await reducedBy({ agent: { tools: ["look"] } }, { depth: 1, ceiling })).toEqual([]);
    expect(await reducedBy({ agent: { disallowedTools: ["change"] } }, { depth: 1 })).toEqual([]);
    expect(await reducedBy(both, { depth: 0, ceiling })).toEqual([]);
    const many = ["a", "b", "c", "d"].map((name) => tool(name));
    const denied = { tools: many, permissions: { deny: ["a", "b", "c", "d"] } };
    expect(await reducedBy(denied, { depth: 1 })).toEqual([[["a", "b", "c", "d"], "deny a; deny b; deny c"]]);
  });

  test("an agent whose file was repaired with fewer tools is reported, also for a person's task", async () => {
    const reason = "its tools could not be read";
    const { facts } = await reportedIn(worldOf({ tools, agent: { source: { kind: "project", reduced: reason } } }));
    expect(facts).toEqual([{ type: "rights.reduced", agent: "worker", lost: [], reason }]);
    expect((await reportedIn(worldOf({ tools, agent: { source: { kind: "project" } } }))).facts).toEqual([]);
  });

  test("an agent is refused when none of its listed tools exists, but not when it lists no tool or only the finish tool", async () => {
    expect(await refusalOf({ tools, agent: { tools: ["lok", "chnge"] } })).toBe(
      'DENIED: None of the tools of "worker" exists here: lok, chnge.',
    );
    expect(await refusalOf({ tools, agent: { tools: ["lok"] } })).toMatch(/^DENIED: /);
    for (const wanted of [[], ["complete_task"], ["look", "chnge"]])
      expect(await refusalOf({ tools, agent: { tools: wanted } })).toBe("it was not refused");
  });
});

describe("delegation tools", () => {
  const catalog: Catalog = { agents: [{ name: "scout", description: "scouts", readOnly: true }], disabled: [] };
  type Asked = Readonly<{ spellings: readonly string[]; caller: Caller }>;

  /** A world whose delegation tools have the requested names, unless other tools are given. */
  function worldWithDelegation(parts: WorldParts = {}, made?: readonly Tool[]): { world: World; asked: Asked[] } {
    const asked: Asked[] = [];
    const plain = worldOf({ tools, agent: { tools: ["look", "task"], spawns: ["scout"] }, ...parts });
    const delegation: World["delegation"] = async (spellings, caller) => {
      asked.push({ spellings, caller });
      return made ?? spellings.map((name) => tool(name, "write", "spawn"));
    };
    return { world: { ...plain, roster: { ...plain.roster, catalog: () => catalog }, delegation }, asked };
  }
  test("an agent that lists the tool has it beside its own tools, and may start the agents of its list", async () => {
    const { world, asked } = worldWithDelegation({
      agent: { tools: ["look", "task"], spawns: ["scout"], output: { type: "object" } },
    });
    const { assigned, facts } = await reportedIn(world);
    expect([...assigned.tools.keys()]).toEqual(["look", "change", "task"]);
    expect(namesOf(assigned)).toEqual(["look", "task"]);
    expect(assigned.toolContext.spawns).toEqual(["scout"]);
    expect(assigned.catalog).toBe(catalog);
    expect(facts).toEqual([]);
    expect(asked).toEqual([
      {
        spellings: ["task"],
        caller: {
          agent: "worker",
          spawns: ["scout"],
          depth: 0,
          maxDepth: -1,
          catalog,
          schema: { type: "object" },
        },
      },
    ]);
  });

  test("the delegation tools get no output schema if the agent has none, and the other limits of the agent stay", async () => {
    const { world, asked } = worldWithDelegation({ agent: { tools: ["*", "task"], disallowedTools: ["change"] } });
    const { assigned } = await reportedIn(world, {}, { depth: 1, maxDepth: 2, ceiling: ["look", "task"] });
    expect(namesOf(assigned)).toEqual(["look", "task"]);
    expect(asked.map(({ caller }) => caller)).toEqual([
      { agent: "worker", spawns: "*", depth: 1, maxDepth: 2, catalog },
    ]);
    expect(Object.keys(asked[0]!.caller)).not.toContain("schema");
    const open = await reportedIn(world);
    expect(namesOf(open.assigned)).toEqual(["look", "task"]);
  });

  test("an agent without a tool list has all tools and the delegation tool if its file names agents to start", async () => {
    const { world } = worldWithDelegation({ agent: { spawns: ["scout"] } });
    expect(namesOf((await reportedIn(world)).assigned)).toEqual(["look", "change", "task"]);
  });

  test("an agent without the tool may start no agent, and none is offered to it", async () => {
    const { world, asked } = worldWithDelegation({ agent: { tools: ["look"], spawns: ["scout"] } });
    for (const more of [{}, { depth: 1, fork: forkOf(["look", "task"]) }]) {
      const { assigned } = await reportedIn(world, {}, more);
      expect(namesOf(assigned)).toEqual(["look"]);
      expect([...assigned.tools.keys()]).toEqual(["look", "change"]);
      expect(assigned.toolContext.spawns).toEqual([]);
      expect(assigned.catalog).toBeUndefined();
    }
    expect(asked).toEqual([]);
  });

  test("where delegation is not available, the other tools of the agent remain", async () => {
    const { assigned } = await reportedIn(worldOf({ tools, agent: { tools: ["look", "task"], spawns: "*" } }));
    expect(namesOf(assigned)).toEqual(["look"]);
    expect(assigned.toolContext.spawns).toEqual([]);
    expect(assigned.catalog).toBeUndefined();
  });

  test("at the maximum depth the tool exists, but is refused with the reason, and there is no agent to start", async () => {
    const { world, asked } = worldWithDelegation();
    const { assigned, facts } = await reportedIn(world, {}, { depth: 2, maxDepth: 2 });
    expect(assigned.tools.has("task")).toBe(true);
    expect(permit(assigned.rights, "task")).toEqual({
      allowed: false,
      rule: "the maximum delegation depth of 2 is reached",
    });
    expect(assigned.toolContext.spawns).toEqual([]);
    expect(asked[0]?.caller.spawns).toEqual([]);
    expect(facts).toEqual([]);
    const above = await reportedIn(world, {}, { depth: 1, maxDepth: 2 });
    expect(permit(above.assigned.rights, "task").allowed).toBe(true);
    expect(above.assigned.toolContext.spawns).toEqual(["scout"]);
  });

  test("where no delegation tool can be created, no agents are offered; the depth of one task does not affect another task", async () => {
    const { world } = worldWithDelegation({}, []);
    const deepest = await reportedIn(world, {}, { depth: 2, maxDepth: 2 });
    const other = await reportedIn(world, {}, { depth: 1, maxDepth: 2 });
    expect([deepest, other].map(({ assigned }) => assigned.catalog)).toEqual([undefined, undefined]);
    expect([deepest, other].map(({ assigned }) => assigned.rights.barred)).toEqual([
      { task: "the maximum delegation depth of 2 is reached" },
      {},
    ]);
  });

  test("the delegation tool has the names from the agent's file, from the settings, or from the conversation that a fork starts from", async () => {
    const spelled = async (agent: WorldParts["agent"], more: Partial<Call> = {}, usual?: readonly ["parallel"]) => {
      const settings = { cwd: tempFolder(), env: {}, ...(usual && { delegationTools: usual }) };
      const { world, asked } = worldWithDelegation({ settings, agent: agent ?? {} });
      await reportedIn(world, {}, more);
      return asked.flatMap(({ spellings }) => spellings);
    };
    const plain = { tools: ["look", "task"] };
    const claude = { tools: ["look", "task"], delegation: ["Task"] };
    expect(await spelled(plain)).toEqual(["task"]);
    expect(await spelled(claude)).toEqual(["Task"]);
    expect(await spelled(plain, {}, ["parallel"])).toEqual(["parallel"]);
    expect(await spelled(claude, {}, ["parallel"])).toEqual(["Task"]);
    const ours = { ...claude, source: { kind: "bundled" as const } };
    expect(await spelled(ours)).toEqual(["Task"]);
    expect(await spelled(ours, {}, ["parallel"])).toEqual(["parallel"]);
    expect(await spelled({ ...ours, source: { kind: "bundled", family: "omp" } }, {}, ["parallel"])).toEqual(["Task"]);
    expect(await spelled({ ...plain, delegation: ["task", "task", "Task"] })).toEqual(["task", "Task"]);
    expect(await spelled(plain, { depth: 1, fork: forkOf(["look", "Task"]) })).toEqual(["Task"]);
    expect(await spelled(claude, { depth: 1, fork: forkOf(["look", "task"]) })).toEqual(["task"]);
    expect(await spelled(claude, { depth: 1, fork: forkOf(["look"]) })).toEqual(["Task"]);
  });

  test("a task whose plan is not approved cannot start agents, whatever the tool is called", async () => {
    const { world } = worldWithDelegation({ agent: { tools: ["look", "task"], delegation: ["Task"] } });
    const { assigned } = await reportedIn(world, { planOnly: true });
    expect(permit(assigned.rights, "Task")).toEqual({ allowed: false, rule: "its plan has to be approved first" });
  });
});

describe("tools of MCP servers", () => {
  const peerTool = tool("mcp__docs__fetch");

  /** A world whose MCP servers have one tool, and the requests that they got. */
  function worldWithPeers(parts: WorldParts = {}): { world: World; asked: PeerAsk[] } {
    const asked: PeerAsk[] = [];
    const peers: World["peers"] = {
      toolsFor: async (ask) => {
        asked.push(ask);
        return [peerTool];
      },
      end: async () => {},
    };
    return { world: { ...worldOf({ tools, ...parts }), peers }, asked };
  }

  test("they are added to the other tools, within the limits of the agent and of its parent", async () => {
    const { world, asked } = worldWithPeers();
    expect(namesOf((await reportedIn(world)).assigned)).toEqual(["look", "change", "mcp__docs__fetch"]);
    const ceiling = ["look"];
    const { assigned } = await reportedIn(world, {}, { depth: 1, ceiling });
    expect(namesOf(assigned)).toEqual(["look"]);
    expect(asked.map(({ agent, run, ceiling: bound }) => [agent.name, run, bound])).toEqual([
      ["worker", "run_test", undefined],
      ["worker", "run_test", ceiling],
    ]);
    expect(assigned.catalog).toBeUndefined();
    expect(asked[0]!.signal()).toBe(asked[0]!.signal());
    expect(asked[0]!.signal()).not.toBe(asked[1]!.signal());
  });

  test("only a rule that allows every call of a tool makes it trusted", async () => {
    const allow = ["docs__fetch", "docs__search(birds*)"];
    const { world, asked } = worldWithPeers({ permissions: { allow } });
    await reportedIn(world);
    const trusted = ["mcp__docs__fetch", "mcp__docs__search", "mcp__docs__post"].filter((name) =>
      asked[0]!.isTrusted(name),
    );
    expect(trusted).toEqual(["mcp__docs__fetch"]);
    const { world: without, asked: there } = worldWithPeers();
    await reportedIn(without);
    expect(there[0]!.isTrusted("mcp__docs__fetch")).toBe(false);
  });

  test("reports of the servers become warnings and notes of the task", async () => {
    const { world, asked } = worldWithPeers();
    const { facts } = await reportedIn(world);
    asked[0]!.say("It did not start.");
    asked[0]!.say("It wants a login.", "MCP_LOGIN");
    asked[0]!.note("It has changed.");
    expect(facts).toEqual([
      { type: "warning", code: "MCP", text: "It did not start." },
      { type: "warning", code: "MCP_LOGIN", text: "It wants a login." },
      { type: "note", text: "It has changed." },
    ]);
  });
});

describe("access", () => {
  test("the task works in its folder and sees only the variables that are passed on", async () => {
    const cwd = tempFolder({ "part/a.txt": "" });
    const settings = { cwd, env: { PATH: "/bin", MY_KEY: "k", EXTRA: "x" }, passEnv: ["EXTRA"] };
    const { toolContext, access } = await assignmentOf({ settings, permissions: {} }, { cwd: "part" });
    expect(toolContext).toMatchObject({ cwd: join(cwd, "part"), run: "run_test", path: "worker", agent: "worker" });
    expect(toolContext.env).toEqual({ PATH: "/bin", EXTRA: "x", SUBCREW_PARENT: "0/-1 run_test/worker" });
    const located = await access?.locate({ kind: "path", path: "a.txt", change: true });
    expect(located).toMatchObject({ kind: "path", places: ["part/a.txt"], change: true });
  });

  test("a helper with a folder outside of the workspace is refused, unless the folder is allowed", async () => {
    const outside = tempFolder();
    const cwd = tempFolder();
    mkdirSync(join(cwd, "inside"));
    const settings = { cwd, env: {} };
    const helper = { depth: 1 };
    expect(await refusalOf({ settings, permissions: {} }, { cwd: outside }, helper)).toBe(
      `DENIED: "worker" may not work in ${outside}: it is outside of the folders this run may use.`,
    );
    const opened = { settings, permissions: { writableRoots: [outside] } };
    expect(await refusalOf(opened, { cwd: outside }, helper)).toBe("it was not refused");
    expect(await refusalOf({ settings, permissions: {} }, { cwd: "inside" }, helper)).toBe("it was not refused");
  });

  test("a task in a worktree works in the folder of the worktree that corresponds to its own, also behind a link", async () => {
    const [cwd, top] = [tempFolder({ "part/a.txt": "" }), tempFolder({ "part/a.txt": "" })];
    symlinkSync("part", join(cwd, "link"));
    const worktree = { top, of: cwd, gitDir: join(cwd, ".git") };
    const settings = { cwd, env: {} };
    const { toolContext } = await assignmentOf({ settings }, { cwd: "link" }, { worktree });
    expect(toolContext.cwd).toBe(join(top, "part"));
  });

  test("a folder that does not exist, or is a file, is refused with the reason", async () => {
    const settings = { cwd: tempFolder({ "a.txt": "" }), env: {} };
    expect(await refusalOf({ settings }, { cwd: "none" })).toBe(
      'BAD_INPUTS: "worker" cannot work in "none": the folder does not exist.',
    );
    expect(await refusalOf({ settings }, { cwd: "a.txt" })).toBe(
      'BAD_INPUTS: "worker" cannot work in "a.txt": it is not a folder.',
    );
  });

  test("a helper is judged by the policy of its parent and by the files that its task may write", async () => {
    const policy = createPolicy("default", { deny: [{ tool: "look" }] });
    const world = worldOf({ tools, permissions: { mode: "bypass" } });
    const { assigned } = await reportedIn(world, { writes: ["a/**"] }, { depth: 1, policy });
    expect(assigned.access?.policy()).toMatchObject({
      level: "default",
      deny: [{ tool: "look" }],
      leases: [{ of: "worker", globs: ["a/**"] }],
    });
    expect((await reportedIn(world)).assigned.access?.policy().level).toBe("bypass");
  });

  test("SUBCREW_PARENT lists the parent task and the tasks above it, the nearest first", async () => {
    const text = async (above: string | undefined): Promise<string | undefined> => {
      const settings = { cwd: tempFolder(), env: { SUBCREW_PARENT: above } };
      const { toolContext } = await assignmentOf({ settings }, {}, { depth: 1, maxDepth: 3 });
      return toolContext.env["SUBCREW_PARENT"];
    };
    expect(await text("1/3 run_b/two run_a/one")).toBe("1/3 run_test/worker run_b/two run_a/one");
    expect(await text("not of subcrew")).toBe("1/3 run_test/worker");
    expect(await text(undefined)).toBe("1/3 run_test/worker");
  });

  test("only a task that may use bash, where bash exists, gets commands; they see the variables that the task sets", async () => {
    const asked: AccessRequest[] = [];
    const requested = async (names: readonly string[], agent: WorldParts["agent"] = {}) => {
      const settings = { cwd: tempFolder(), env: { PATH: "/bin" } };
      const parts = { settings, agent, tools: [...tools, ...names.map((name) => tool(name, "write"))] };
      const world = worldOf({ ...parts, permissions: {} });
      const access: World["access"] = {
        ...world.access!,
        accessFor: (request) => {
          asked.push(request);
          return world.access!.accessFor(request);
        },
      };
      const { assigned, facts } = await reportedIn({ ...world, access });
      return { assigned, facts, request: asked.at(-1)! };
    };
    const { assigned, facts, request } = await requested(["bash"]);
    expect(assigned.access?.commands).toBeDefined();
    expect((await requested(["bash"], { tools: ["look"] })).assigned.access?.commands).toBeUndefined();
    expect((await requested([])).assigned.access?.commands).toBeUndefined();
    assigned.toolContext.desk.env.set("MINE", "1");
    expect(request.env()).toEqual({ PATH: "/bin", MINE: "1", SUBCREW_PARENT: "0/-1 run_test/worker" });
    request.note({ level: "full", text: "The sandbox works." });
    request.note({ level: "none", text: "There is no sandbox." });
    expect(facts).toEqual([
      { type: "note", text: "The sandbox works." },
      { type: "warning", code: "SANDBOX", text: "There is no sandbox." },
    ]);
  });
});
