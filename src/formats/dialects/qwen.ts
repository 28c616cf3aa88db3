import type { Dialect } from "../../core/agent/dialect.ts";
import { isRecord } from "../../core/text/json.ts";
import { defineFields, type KeyReader } from "../fields/draft.ts";
import { markdown } from "../fields/markdown.ts";
import { bad, flag, kept, limit, model, number, readPermission, readThinking, text } from "../fields/rules.ts";
import { disallowedTools } from "../fields/denied-tools.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";

/** Reads the limits of a run, `{ max_turns, max_time_minutes }`. */
const runConfig: KeyReader = (draft, value, key) => {
  if (!isRecord(value)) return bad(draft, key, "{ max_turns, max_time_minutes }");
  if (value["max_turns"] !== undefined) limit("maxTurns")(draft, value["max_turns"], key);
  if (value["max_time_minutes"] !== undefined) limit("maxDurationMs", 60_000)(draft, value["max_time_minutes"], key);
};

/** Reads `{ model, temp, top_p }` of older files. */
const modelConfig: KeyReader = (draft, value, key) => {
  if (!isRecord(value)) return bad(draft, key, "{ model, temp, top_p }");
  if (value["model"] !== undefined) model(draft, value["model"], key);
  if (value["temp"] !== undefined) number("temperature")(draft, value["temp"], key);
  if (value["top_p"] !== undefined) number("topP")(draft, value["top_p"], key);
};

/** Qwen Code's Markdown files. */
export const qwenDialect: Dialect = markdown({
  id: "qwen",
  freeName: true,
  fields: defineFields({
    ...narrowing(),
    name: text("name"),
    description: text("description"),
    tools: tools(),
    disallowedTools: disallowedTools(),
    model,
    modelConfig,
    approvalMode: readPermission,
    permissionMode: readPermission,
    maxTurns: limit("maxTurns"),
    runConfig,
    effort: readThinking,
    background: flag("background"),
    mcpServers: kept("has no effect in subcrew; import servers with `subcrew mcp import`"),
    hooks: kept("is never run from an agent file"),
    color: kept(),
  }),
});
