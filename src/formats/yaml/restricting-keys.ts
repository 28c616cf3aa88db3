import { words } from "../../core/text/words.ts";
import { foldName } from "../../core/vocabulary/tool-names.ts";

/**
 * The keys of agent files that restrict an agent, in all formats, by the key of subcrew that they mean. They are read
 * in files of every format, and a line with such a key is never lost when broken YAML is repaired. Keys are compared
 * without case, `-` and `_`.
 */
export const restrictingKeys = {
  tools: words(`
    tools allowedTools allowTools allowedTool toolsAllowed enabledTools enableTools availableTools includeTools
    includedTools permittedTools onlyTools toolAllowlist toolsAllowlist toolWhitelist toolsWhitelist
  `),
  disallowedTools: words(`
    disallowedTools disallowTools disallowedTool toolsDisallowed deniedTools denyTools deniedTool toolsDenied
    excludedTools excludeTools excludeTool blockedTools blockTools forbiddenTools forbidTools disabledTools
    disableTools bannedTools removedTools toolDenylist toolsDenylist toolBlacklist toolsBlacklist
  `),
  permissionMode: words("permissionMode permissionsMode approvalMode sandboxMode sandbox"),
  readonly: words("readonly isReadonly readonlyMode"),
  spawns: words("spawns allowedSubagents allowedAgents"),
  permission: words("permission permissions"),
} as const;

export type Restriction = keyof typeof restrictingKeys;

/** Words with other meanings, too: they restrict if their values name tools, or mean that the agent may only read. */
export const vagueKeys = {
  tools: words("tool toolset toolsets toolList toolsList toolName toolNames allow allowed allowlist whitelist"),
  disallowedTools: words("deny denied denylist disallow disallowed exclude excluded forbidden blocked blacklist"),
  readonly: words("mode access accessMode accessLevel accessPolicy fileAccess filesystem fileSystemAccess"),
} as const;

/** Keys that only some formats have, and that are read in these formats only. */
const ofSomeFormats: Readonly<Record<string, Restriction | "enabled">> = {
  groups: "tools",
  agents: "spawns",
  subagents: "spawns",
  approvalpolicy: "permissionMode",
  defaultpermissions: "permission",
  permissionconfig: "permission",
  disable: "enabled",
  disabled: "enabled",
  enabled: "enabled",
};

const byKey = new Map<string, Restriction | "enabled">([
  ...Object.entries(ofSomeFormats),
  ...Object.entries(restrictingKeys).flatMap(([meant, keys]) =>
    keys.map((key): [string, Restriction] => [foldName(key), meant as Restriction]),
  ),
]);

/** What a key restricts. Every key that ends in "tools" counts. */
export function restrictedBy(key: string): Restriction | "enabled" | undefined {
  const folded = foldName(key);
  if (byKey.has(folded)) return byKey.get(folded);
  if (!/tools?$/.test(folded)) return undefined;
  return /^(?:dis|den[iy]|exclud|block|forbid|bann?|remov)/.test(folded) ? "disallowedTools" : "tools";
}
