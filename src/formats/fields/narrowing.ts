import { isRecord } from "../../core/text/json.ts";
import { foldName, type ToolGroups } from "../../core/vocabulary/tool-names.ts";
import { addProblem, type KeyReader } from "./draft.ts";
import { opencodePermission } from "./permission-map.ts";
import { choice, flag, projectInstructions, readPermission, summaryChars } from "./rules.ts";
import { disallowedTools, readonlyFlag, spawns, tools } from "./tools.ts";

/**
 * Every restricting key of any dialect, for dialects that do not have it: an author who copied such a key
 * meant it, and an ignored restriction would widen the agent. Keys are compared without case, `-` and `_`.
 */
export function narrowing(groups?: ToolGroups): Readonly<Record<string, KeyReader>> {
  const rows: Record<string, KeyReader> = {};
  const kinds: readonly (readonly [reader: KeyReader, as: string, keys: readonly string[]])[] = [
    [tools(groups), "tools", ALLOWING],
    [disallowedTools(groups), "disallowedTools", DENYING],
    [readPermission, "permissionMode", MODES],
    [readonlyFlag, "readonly", ["readonly", "isReadonly", "readonlyMode"]],
    [spawns, "spawns", ["spawns", "allowedSubagents", "allowedAgents"]],
    [permission, "permission", ["permission", "permissions"]],
  ];
  for (const [reader, as, keys] of kinds) for (const key of keys) rows[key] = mistaken(reader, as);
  return { ...rows, ...everywhere };
}

/** Keys of our own that count in the files of every dialect that tolerates keys it does not know. */
const everywhere: Readonly<Record<string, KeyReader>> = {
  modelLock: flag("modelLock"),
  delegation: choice("delegationRule", { own: "own", ceiling: "ceiling" }),
  projectInstructions: projectInstructions(),
  summaryChars,
  summary: choice("summary", { last: "last", all: "all" }),
};

const ALLOWING = [
  ..."tools allowedTools allowTools allowedTool toolsAllowed enabledTools enableTools availableTools includeTools".split(
    " ",
  ),
  ..."includedTools permittedTools onlyTools toolAllowlist toolsAllowlist toolWhitelist toolsWhitelist".split(" "),
];

const DENYING = [
  ..."disallowedTools disallowTools disallowedTool toolsDisallowed deniedTools denyTools deniedTool toolsDenied".split(
    " ",
  ),
  ..."excludedTools excludeTools excludeTool blockedTools blockTools forbiddenTools forbidTools disabledTools".split(
    " ",
  ),
  ..."disableTools bannedTools removedTools toolDenylist toolsDenylist toolBlacklist toolsBlacklist".split(" "),
];

const MODES = ["permissionMode", "permissionsMode", "approvalMode", "sandboxMode", "sandbox"];

/** A mode in one word, or rules for each tool as opencode writes them. */
const permission: KeyReader = (draft, value, key) =>
  isRecord(value) || Array.isArray(value) || /^(?:allow|ask|deny)$/.test(String(value))
    ? opencodePermission(draft, value, key)
    : readPermission(draft, value, key);

/** Reads a key that this kind of file does not have, and reports it. */
function mistaken(reader: KeyReader, as: string): KeyReader {
  return (draft, value, key) => {
    reader(draft, value, key);
    if (foldName(key) === foldName(as)) {
      const known = `"${key}" is not a key of this kind of file; it counts here all the same.`;
      return addProblem(draft, "unknown-field", known, { field: key, severity: "info" });
    }
    const message = `"${key}" is not a key of this kind of file; it was read as "${as}", so that the agent gets no extra tools.`;
    addProblem(draft, "unknown-field", message, { field: key, hint: `Did you mean "${as}"?` });
  };
}
