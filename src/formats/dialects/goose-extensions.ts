import { toolsNamed } from "../../core/vocabulary/tool-names.ts";
import type { KeyReader } from "../fields/draft.ts";
import { listOf } from "../fields/lists.ts";
import { bad, kept } from "../fields/rules.ts";
import { allow } from "../fields/denied-tools.ts";
import { asData } from "../yaml/json.ts";

/** goose's built-in extensions, and the equivalent tools of subcrew. */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  developer: ["bash", "read_file", "write_file", "edit_file", "list_files", "glob", "grep_files"],
  memory: ["memory_list", "memory_read", "memory_write", "memory_append", "memory_patch"],
  todo: ["todo"],
  summon: ["task", "skill"],
};

const WORDS = { texteditor: ["read_file", "write_file", "edit_file"] };

/**
 * Reads the extensions of a recipe, which are its only tools. A server name means the server that the user configured
 * under that name.
 */
export const extensions: KeyReader = (draft, value, key) => {
  if (!Array.isArray(value)) {
    allow(draft, [], key);
    return bad(draft, key, "a list of extensions; the agent gets no tools");
  }
  allow(draft, [...new Set(value.flatMap(toolsOf))], key);
  kept("starts no servers in subcrew; the agent gets the available tools with these names")(draft, value, key);
};

function toolsOf(extension: unknown): readonly string[] {
  const { type, name, available_tools: available } = asData(extension) ?? {};
  if (typeof name !== "string") return [];
  const only = listOf(available) ?? [];
  const ours =
    (type === "builtin" || type === "platform") && Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name]! : undefined;
  if (ours === undefined) return only.length > 0 ? only.map((tool) => `${name}__${tool}`) : [`${name}__*`];
  return only.length > 0 ? ours.filter((tool) => only.some((word) => toolsNamed(word, WORDS).includes(tool))) : ours;
}
