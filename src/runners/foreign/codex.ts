import { thinkingLevel } from "../../core/vocabulary/thinking.ts";
import { type ForeignTool, field, numberIn, textIn, together, withoutProvider } from "./tool.ts";

const SHELL = "the program reads files by running commands, so commands cannot be forbidden";

/** Codex, headless: all its actions are commands in its own sandbox, without questions. */
export const codexTool: ForeignTool = {
  install: "npm install -g @openai/codex",
  variables: ["OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME"],
  keeps: { without: { bash: SHELL, read_file: SHELL }, patterns: [], places: true, sandbox: true },
  translate: (asked) => {
    const { model, thinking, bounds, roots, cwd } = asked;
    const writes = bounds.may.write_file === "yes" && bounds.may.edit_file === "yes" && bounds.may.bash !== "no";
    const level = thinking === undefined ? undefined : thinkingLevel(thinking);
    const settings: Readonly<Record<string, string>> = {
      approval_policy: '"never"',
      web_search: bounds.may.web_search === "yes" ? '"live"' : '"disabled"',
      "sandbox_workspace_write.network_access": String(bounds.network),
      ...(level !== undefined && { model_reasoning_effort: `"${level === "off" ? "minimal" : level}"` }),
    };
    return {
      args: [
        "exec",
        "--json",
        "--ephemeral",
        "--skip-git-repo-check",
        "--ignore-rules",
        "--color=never",
        `--cd=${cwd}`,
        `--sandbox=${writes ? "workspace-write" : "read-only"}`,
        ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
        ...["multi_agent", "hooks"].flatMap((feature) => ["-c", `features.${feature}=false`]),
        ...(writes ? roots.map((root) => `--add-dir=${root}`) : []),
        ...(model === undefined ? [] : [`--model=${withoutProvider(model, "openai")}`]),
        "-",
      ],
      input: together(asked),
    };
  },
  reader: (heard) => (event) => {
    const type = textIn(event, "type");
    const item = field(event, "item");
    if (type === "item.started" || type === "item.completed") itemHeard(type === "item.completed", item, heard);
    if (type === "turn.completed") {
      const cached = numberIn(event, "usage", "cached_input_tokens");
      const usage = {
        input: Math.max(0, numberIn(event, "usage", "input_tokens") - cached),
        output: numberIn(event, "usage", "output_tokens"),
        cacheRead: cached,
        cacheWrite: numberIn(event, "usage", "cache_write_input_tokens"),
        reasoning: numberIn(event, "usage", "reasoning_output_tokens"),
      };
      heard.turnEnded({ usage });
    }
    if (type === "turn.failed" || type === "error")
      heard.failed(textIn(event, "error", "message") || textIn(event, "message") || "it failed");
  },
};

type Heard = Parameters<ForeignTool["reader"]>[0];

/** Handles one item of Codex's output; the last text is the answer. */
function itemHeard(done: boolean, item: unknown, heard: Heard): void {
  const id = textIn(item, "id");
  switch (textIn(item, "type")) {
    case "agent_message":
      if (!done) return;
      heard.text(textIn(item, "text"));
      return heard.answer(textIn(item, "text"));
    case "reasoning":
      return done ? heard.thinking(textIn(item, "text")) : undefined;
    case "command_execution": {
      heard.call({ id, name: "bash", input: { command: textIn(item, "command") } });
      const error = numberIn(item, "exit_code") !== 0;
      return done ? heard.result(id, { text: textIn(item, "aggregated_output"), error }) : undefined;
    }
    case "file_change": {
      heard.call({ id, name: "edit_file", input: { changes: field(item, "changes") } });
      const error = textIn(item, "status") === "failed";
      return done ? heard.result(id, { text: JSON.stringify(field(item, "changes") ?? []), error }) : undefined;
    }
    case "mcp_tool_call":
    case "web_search": {
      heard.call({ id, name: textIn(item, "tool") || textIn(item, "type"), input: { query: textIn(item, "query") } });
      return done ? heard.result(id, { text: "", error: textIn(item, "status") === "failed" }) : undefined;
    }
  }
}
