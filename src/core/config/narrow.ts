import type { PolicyMode } from "../policy/policy.ts";
import { defined } from "../text/defined.ts";
import { DEFAULT_CONCURRENCY, DEFAULT_MAX_DEPTH } from "../vocabulary/limits.ts";
import type { Config } from "./config.ts";

/**
 * The user's settings narrowed by the project's general settings. `adjustmentsOf` narrows the settings of single
 * agents.
 */
export function narrowConfig(user: Config, project: Config): Config {
  const { concurrency, maxTimeMs, maxDepth, limits, budget, spending, disabled, permissions, mcpServers } = project;
  return {
    ...user,
    ...(concurrency !== undefined && { concurrency: Math.min(user.concurrency ?? DEFAULT_CONCURRENCY, concurrency) }),
    ...(maxTimeMs !== undefined && { maxTimeMs: Math.min(user.maxTimeMs ?? maxTimeMs, maxTimeMs) }),
    ...(maxDepth !== undefined && { maxDepth: shallower(user.maxDepth ?? DEFAULT_MAX_DEPTH, maxDepth) }),
    ...(limits && { limits: smallest(user.limits ?? {}, limits) }),
    ...(budget && { budget: smallest(user.budget ?? {}, budget) }),
    ...(spending && {
      spending: defined({
        perDay: spending.perDay ? smallest(user.spending?.perDay ?? {}, spending.perDay) : user.spending?.perDay,
        perProject: spending.perProject
          ? smallest(user.spending?.perProject ?? {}, spending.perProject)
          : user.spending?.perProject,
      }),
    }),
    ...(disabled && { disabled: joined(user.disabled, disabled) }),
    ...(permissions && { permissions: stricter(user.permissions ?? {}, permissions) }),
    ...(user.mcpServers && mcpServers && { mcpServers: fewer(user.mcpServers, mcpServers) }),
  };
}

type Servers = NonNullable<Config["mcpServers"]>;

/** The user's MCP servers, without the servers and tools that the project's settings disable. */
function fewer(ours: Servers, theirs: Servers): Servers {
  const both = Object.entries(ours).map(([name, server]): [string, Servers[string]] => {
    const said = Object.hasOwn(theirs, name) ? theirs[name] : undefined;
    const tools = said?.tools && (server.tools?.filter((tool) => said.tools?.includes(tool)) ?? said.tools);
    return [name, { ...server, ...(said?.enabled === false && { enabled: false }), ...defined({ tools }) }];
  });
  return Object.fromEntries(both);
}

/** The smaller of two limits. If one of them is enforced, the result is enforced, too. */
function smallest<T extends Readonly<Record<string, number | boolean | undefined>>>(ours: T, theirs: T): T {
  const smaller = Object.entries(theirs).flatMap(([name, their]): [string, number | boolean][] => {
    const our = ours[name];
    if (typeof their === "boolean") return their ? [[name, true]] : [];
    return their === undefined ? [] : [[name, typeof our === "number" ? Math.min(our, their) : their]];
  });
  return { ...ours, ...Object.fromEntries(smaller) };
}

/** The smaller of two maximum depths; negative means unlimited. */
function shallower(ours: number, theirs: number): number {
  if (theirs < 0) return ours;
  return ours < 0 ? theirs : Math.min(ours, theirs);
}

const joined = (ours: readonly string[] = [], theirs: readonly string[] = []): string[] => [
  ...new Set([...ours, ...theirs]),
];

/** Permission modes, from never asking to read-only. */
const STRICTNESS: readonly PolicyMode[] = ["bypass", "acceptEdits", "default", "dontAsk", "plan"];

type Permissions = NonNullable<Config["permissions"]>;
type Sandbox = NonNullable<Permissions["sandbox"]>;
const ISOLATION: readonly Sandbox[] = ["off", "auto", "required"];

function stricter(ours: Permissions, theirs: Permissions): Permissions {
  const level = (mode: PolicyMode = "default"): number => STRICTNESS.indexOf(mode);
  const isolation = (sandbox: Sandbox = "auto"): number => ISOLATION.indexOf(sandbox);
  return {
    ...ours,
    ...(theirs.ask && { ask: joined(ours.ask, theirs.ask) }),
    ...(theirs.deny && { deny: joined(ours.deny, theirs.deny) }),
    ...(level(theirs.mode) > level(ours.mode) && { mode: theirs.mode }),
    ...(isolation(theirs.sandbox) > isolation(ours.sandbox) && { sandbox: theirs.sandbox }),
  };
}
