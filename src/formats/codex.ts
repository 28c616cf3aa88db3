import { parse, TomlError } from "smol-toml";
import type { Dialect, Reading } from "../core/dialect.ts";
import { problem } from "../core/problem.ts";
import { defineFields, type Draft, say } from "./draft.ts";
import { stemOf } from "./finish.ts";
import type { Data } from "./frontmatter.ts";
import { failed, readRecord } from "./records.ts";
import { kept, model, permission, text, thinking } from "./rules.ts";

/** Keys of Codex's `config.toml`, any of which a role may carry. */
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

const fields = defineFields(
  {
    ...Object.fromEntries(CONFIG_KEYS.map((key) => [key, kept()])),
    name: text("name"),
    description: text("description"),
    developer_instructions: text("instructions"),
    model,
    model_reasoning_effort: thinking,
    sandbox_mode: permission,
  },
  { exact: true },
);

/** Codex roles in TOML. As in Codex, a key it does not know makes the role malformed. */
export const codex: Dialect = {
  id: "codex",
  accepts: (name) => name.endsWith(".toml"),
  read: (source, place): Reading => {
    let data: Data;
    try {
      data = plain(parse(source), 0) as Data;
    } catch (error) {
      const line = error instanceof TomlError ? { line: error.line } : {};
      return failed(problem("bad-toml", `The TOML cannot be read: ${firstLine(error)}`, line));
    }
    const defaultName = stemOf(place.relative);
    return readRecord(fields, data, { place, freeName: true, defaultName, settle: complete });
  },
  lineOf: (source, field) => {
    const at = source.split("\n").findIndex((line) => new RegExp(`^\\s*\\[?${escaped(field)}\\s*[=.\\]]`).test(line));
    return at === -1 ? undefined : at + 1;
  },
};

/** Unknown keys and missing instructions are errors here. */
function complete(draft: Draft): void {
  for (const [index, found] of draft.problems.entries()) {
    if (found.code === "unknown-field") draft.problems[index] = { ...found, severity: "error" };
  }
  if (draft.agent.instructions === undefined) {
    say(draft, "bad-definition", '"developer_instructions" is missing.', { field: "developer_instructions" });
  }
}

/** The same data without prototypes. */
function plain(value: unknown, depth: number): unknown {
  if (depth > 64) throw new Error("nested deeper than 64 levels");
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return Number(value);
  if (value === null || typeof value !== "object") return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value)) copy[key] = plain(item, depth + 1);
  return copy;
}

const firstLine = (error: unknown): string => (error instanceof Error ? error.message.split("\n")[0]! : String(error));
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
