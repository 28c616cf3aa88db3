import type { Dialect, ParsedFile } from "../../core/agent/dialect.ts";
import { isRecord, scalarText } from "../../core/text/json.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { addProblem, type Draft, defineFields, type KeyReader } from "../fields/draft.ts";
import { stemOf } from "../fields/finish.ts";
import { failedReading, readRecord } from "../fields/records.ts";
import { deny } from "../fields/denied-tools.ts";
import { tools } from "../fields/tools.ts";
import { kept, model, readPermission, readThinking, text } from "../fields/rules.ts";
import { readToml, tomlLineOf } from "../yaml/toml.ts";
import { readCodexSettings } from "./codex-settings.ts";

/** Keys of Codex's `config.toml`, any of which a role may contain. */
const CONFIG_KEYS = [
  ..."agents allow_login_shell analytics approval_policy approvals_reviewer apps background_terminal_max_timeout".split(
    " ",
  ),
  ..."base_instructions chatgpt_base_url check_for_update_on_startup compact_prompt config_file default_permissions".split(
    " ",
  ),
  ..."disable_paste_burst experimental_compact_prompt_file experimental_use_unified_exec_tool features feedback".split(
    " ",
  ),
  ..."file_opener hide_agent_reasoning history hooks include_apply_patch_tool instructions log_dir mcp_servers".split(
    " ",
  ),
  ..."memories model_auto_compact_token_limit model_catalog_json model_context_window model_instructions_file".split(
    " ",
  ),
  ..."model_provider model_providers model_reasoning_summary model_supports_reasoning_summaries model_verbosity".split(
    " ",
  ),
  ..."network nickname_candidates notice notify oss_provider otel permissions personality plan_mode_reasoning_effort".split(
    " ",
  ),
  ..."plugins profile profiles project_doc_fallback_filenames project_doc_max_bytes project_root_markers projects".split(
    " ",
  ),
  ..."review_model sandbox_workspace_write service_tier shell_environment_policy show_raw_agent_reasoning skills".split(
    " ",
  ),
  ..."sqlite_home suppress_unstable_features_warning tool_output_token_limit tools tui web_search windows".split(" "),
];

/** Codex's names for tools that a table can switch off, each with the tools of subcrew that it means. */
const SWITCHED: Readonly<Record<string, readonly string[]>> = {
  web_search: ["web_search", "http_get"],
  web_search_request: ["web_search", "http_get"],
  shell_tool: ["bash"],
};

/** Reads `{ web_search = false }`: tools that are switched off are denied; other entries have no effect in subcrew. */
const switches: KeyReader = (draft, value, key) => {
  const gone = Object.entries(isRecord(value) ? value : {}).flatMap(([name, state]) => {
    const isOff = state === false || state === "disabled" || (isRecord(state) && state["enabled"] === false);
    return isOff && Object.hasOwn(SWITCHED, name) ? SWITCHED[name]! : [];
  });
  if (gone.length === 0) return kept()(draft, value, key);
  draft.kept.push(key);
  deny(draft, gone, key);
};

/**
 * Reads the name of a permission profile: `:read-only` is the sandbox of that name, and other profiles grant nothing in
 * subcrew.
 */
const profile: KeyReader = (draft, value, key) =>
  /^:?read[-_]?only$/.test(scalarText(value))
    ? readPermission(draft, "read-only", "sandbox_mode")
    : kept("grants no permissions in subcrew; only the user's settings do")(draft, value, key);

const fields = defineFields(
  {
    ...Object.fromEntries(CONFIG_KEYS.map((key) => [key, kept()])),
    name: text("name"),
    description: text("description"),
    developer_instructions: text("instructions"),
    model,
    model_reasoning_effort: readThinking,
    sandbox_mode: readPermission,
    // in Codex this key is a table of switches; if it is a list, it is read as a list of tools
    tools: (draft, value, key) => (isRecord(value) ? switches : tools())(draft, value, key),
    features: switches,
    web_search: (draft, value, key) => switches(draft, { web_search: value }, key),
    default_permissions: profile,
  },
  { exact: true },
);

/** Codex roles (agents), one per file or all in its settings. As in Codex, an unknown key makes a role invalid. */
export const codexDialect: Dialect = {
  id: "codex",
  accepts: (name) => name.endsWith(".toml"),
  read: (source, place): ParsedFile => {
    const read = readToml(source);
    if ("problem" in read) return failedReading(read.problem);
    if (isSettings(place.file)) return readCodexSettings(read.data, place, { fields, settle: strict });
    if (read.data["name"] === undefined && read.data["description"] === undefined) return failedReading(ONLY_NAMED);
    return readRecord(fields, read.data, {
      place,
      freeName: true,
      defaultName: stemOf(place.relative),
      settle: complete,
    });
  },
  lineOf: tomlLineOf,
};

/**
 * The problem of a file without name and description. The file may belong to a role of `config.toml`, and is then read
 * together with that role.
 */
const ONLY_NAMED = problem(
  "no-effect",
  "The file has neither name nor description; it can only be used if `[agents.ROLE]` of config.toml names it.",
);

/** True for Codex's settings file, as opposed to a role called `config` in a folder of roles. */
const isSettings = (file: string): boolean => /[\\/]\.codex[\\/]config\.toml$/.test(file);

/** Turns the warnings about unknown keys into errors. */
function strict({ problems }: Draft): void {
  for (const [index, found] of problems.entries()) {
    if (found.code === "unknown-field") problems[index] = { ...found, severity: "error" };
  }
}

/** Reports a role in a separate file that has no name or no instructions. */
function complete(draft: Draft): void {
  strict(draft);
  if (draft.agent.name === undefined)
    addProblem(draft, "missing-name", 'The role has no "name"; it is called after its file.', { severity: "warning" });
  if (draft.agent.instructions === undefined) {
    addProblem(draft, "bad-definition", '"developer_instructions" is missing.', { field: "developer_instructions" });
  }
}
