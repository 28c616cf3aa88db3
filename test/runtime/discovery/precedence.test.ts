import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ReadAgent } from "../../../src/core/agent/dialect.ts";
import { ownDialect } from "../../../src/formats/dialects/own.ts";
import { dialects } from "../../../src/formats/table.ts";
import { type Discovery, discover } from "../../../src/runtime/discovery/discover.ts";
import type { Order } from "../../../src/runtime/discovery/sources.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** `*` stands for the name of an agent; a place without it is one file with all of them. */
type Place = string;

/** DESIGN 1 and SPEC C5 as a table: one family per row, its project places and then its user places. */
const families: readonly (readonly [project: readonly Place[], user: readonly Place[]])[] = [
  [
    ["project/.subcrew/agents/*.md", "project/.agents/agents/*.md"],
    ["home/.subcrew/agents/*.md", "home/.agents/agents/*.md"],
  ],
  [["project/.omp/agents/*.md"], ["home/.omp/agent/agents/*.md"]],
  [["project/.pi/agents/*.md"], ["home/.pi/agent/agents/*.md"]],
  [["project/.gen/agents/*.md"], ["home/.gen/agents/*.md"]],
  [["project/.claude/agents/*.md"], ["home/.claude/agents/*.md"]],
  [
    ["project/.codex/agents/*.toml", "project/.codex/config.toml"],
    ["home/.codex/agents/*.toml", "home/.codex/config.toml"],
  ],
  [["project/.gemini/agents/*.md"], ["home/.gemini/agents/*.md"]],
  [
    ["project/.opencode/agent/*.md", "project/.kilo/agents/*.md"],
    ["home/.config/opencode/agent/*.md", "home/.config/kilo/agents/*.md"],
  ],
  [["project/.github/agents/*.agent.md"], ["home/.copilot/agents/*.agent.md"]],
  [["project/.cursor/agents/*.md"], ["home/.cursor/agents/*.md"]],
  [["project/.qwen/agents/*.md"], ["home/.qwen/agents/*.md"]],
  [["project/.factory/droids/*.md"], ["home/.factory/droids/*.md"]],
  [
    ["project/.goose/agents/*.md", "project/.goose/recipes/*.yaml", "project/.agents/recipes/*.yaml"],
    ["home/.config/goose/agents/*.md", "home/.config/goose/recipes/*.yaml", "home/.agents/recipes/*.yaml"],
  ],
  [["project/.roomodes"], ["home/.roo/custom_modes.yaml"]],
  [["project/.kiro/agents/*.md"], ["home/.kiro/agents/*.md"]],
  [["project/.augment/agents/*.md"], ["home/.augment/agents/*.md"]],
  [["project/.openhands/agents/*.md"], ["home/.openhands/agents/*.md"]],
  [["project/.deepagents/agents/*/AGENTS.md"], ["home/.deepagents/agent/agents/*/AGENTS.md"]],
  [["project/config/agents.yaml"], []],
  [
    ["project/data/subagents/*/SUBAGENT.md", "project/subagents/*/SUBAGENT.md"],
    ["home/.subcrew/subagents/*/SUBAGENT.md"],
  ],
];
const plugins: readonly Place[] = ["plugins/project/agents/*.md", "plugins/user/agents/*.md"];
const BUNDLED: Place = "bundled";

const orders: Readonly<Record<Order, readonly Place[]>> = {
  "family-first": [...families.flatMap(([project, user]) => [...project, ...user]), ...plugins, BUNDLED],
  "scope-first": [
    ...families.flatMap(([project]) => project),
    ...families.flatMap(([, user]) => user),
    ...plugins,
    BUNDLED,
  ],
};

describe.each(Object.entries(orders))("%s", (order, places) => {
  const pairs = places.flatMap((strong, index) => places.slice(index + 1).map((weak) => [strong, weak] as const));
  const nameOf = (pair: readonly Place[]): string => `pair-${pairs.findIndex((one) => one === pair)}`;

  test(`${pairs.length} pairs: the earlier place wins and the later one stays visible`, async () => {
    const held = new Map(places.map((place) => [place, pairs.filter((pair) => pair.includes(place)).map(nameOf)]));
    const { agents, shadowed } = await withAgents(held, order as Order);
    const winners = Object.fromEntries(agents.map(({ name, agent }) => [name, agent.description]));
    const losers = Object.fromEntries(shadowed.map(({ found }) => [found.name, found.agent.description]));
    const seen = pairs.map((pair) => [winners[nameOf(pair)], losers[nameOf(pair)]]);
    expect(seen).toEqual(pairs);
  });

  test("all places at once are used in that order", async () => {
    const { agents, shadowed } = await withAgents(new Map(places.map((place) => [place, ["same"]])), order as Order);
    const seen = [...agents, ...shadowed.map(({ found }) => found)].map(({ agent }) => agent.description);
    expect(seen).toEqual(places);
  });
});

test("an untrusted project shadows nothing", async () => {
  const [[project], [user]] = families[4]!;
  const held = new Map([project!, user!].map((place) => [place, ["same"]]));
  const { agents, untrusted, shadowed } = await withAgents(held, "family-first", false);
  expect(agents.map(({ agent }) => agent.description)).toEqual([user]);
  expect(untrusted.map(({ agent, trusted }) => [agent.description, trusted])).toEqual([[project, false]]);
  expect(shadowed).toEqual([]);
});

async function withAgents(
  held: ReadonlyMap<Place, readonly string[]>,
  order: Order,
  trusted = true,
): Promise<Discovery> {
  const root = tempFolder();
  mkdirSync(join(root, "project/deep"), { recursive: true });
  for (const [place, names] of held) lay(root, place, names);
  const plugin = (scope: string): object => ({ scope, installPath: join(root, "plugins", scope) });
  const registry = { version: 2, plugins: { "a@m": [plugin("user"), plugin("project")] } };
  write(join(root, "home/.claude/plugins/installed_plugins.json"), JSON.stringify(registry));
  return discover({
    cwd: join(root, "project/deep"),
    home: join(root, "home"),
    dialects,
    order,
    bundled: (held.get(BUNDLED) ?? []).flatMap(bundled),
    trust: { project: () => trusted },
  });
}

function lay(root: string, place: Place, names: readonly string[]): void {
  if (place === BUNDLED) return;
  if (!place.includes("*")) return write(join(root, place), together(place)(names, place));
  const text = place.endsWith(".toml") ? toml : place.endsWith(".yaml") ? recipe : markdown;
  for (const name of names) write(join(root, place.replace("*", name)), text(name, place));
}

const quoted = (text: string): string => JSON.stringify(text);
const markdown = (name: string, says: string): string =>
  `---\nname: ${name}\ndescription: ${quoted(says)}\n---\nBody\n`;
const toml = (name: string, says: string): string =>
  `name = "${name}"\ndescription = ${quoted(says)}\ndeveloper_instructions = "Body"\n`;
const recipe = (_name: string, says: string): string => `title: T\ndescription: ${quoted(says)}\nprompt: Body\n`;

/** The format of files that contain all agents of a place. */
function together(place: Place): (names: readonly string[], says: string) => string {
  if (place.endsWith("config.toml"))
    return (names, says) => names.map((name) => `[agents.${name}]\ndescription = ${quoted(says)}\n`).join("");
  if (place.endsWith("agents.yaml"))
    return (names, says) =>
      names.map((name) => `${name}:\n  role: R\n  goal: ${quoted(says)}\n  backstory: B\n`).join("");
  return (names, says) => `customModes:\n${names.map((name) => mode(name, says)).join("")}`;
}
const mode = (name: string, says: string): string =>
  `  - slug: ${name}\n    name: N\n    roleDefinition: Body\n    description: ${quoted(says)}\n    groups: [read]\n`;
const bundled = (name: string): readonly ReadAgent[] =>
  ownDialect.read(markdown(name, BUNDLED), { file: `${name}.md`, relative: `${name}.md` }).agents;

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
