import { thinkingLevel } from "../../core/vocabulary/thinking.ts";
import { type Ability, abilityNames } from "./bounds.ts";
import { type ForeignTool, field, listIn, numberIn, textIn, together, withoutProvider } from "./tool.ts";

/** Copilot CLI's tool names for the abilities, and the permission that each needs. */
const names: Readonly<Record<Ability, readonly string[]>> = {
  read_file: ["view"],
  list_files: [],
  glob: ["glob"],
  grep_files: ["grep", "rg"],
  write_file: ["create"],
  edit_file: ["edit"],
  bash: ["bash", "read_bash", "stop_bash", "list_bash"],
  http_get: ["web_fetch"],
  web_search: ["web_search"],
};
const rights: Readonly<Partial<Record<Ability, string>>> = {
  write_file: "write",
  edit_file: "write",
  bash: "shell",
  http_get: "url",
};
/** The name of a tool that does not exist, because an empty list would mean all tools. */
const NONE = "none";

/** Copilot CLI, headless: it gets only the listed tools, and paths outside of the working folder are refused. */
export const copilotTool: ForeignTool = {
  install: "npm install -g @github/copilot",
  variables: [
    "COPILOT_GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "COPILOT_HOME",
    "COPILOT_PROVIDER_BASE_URL",
    "COPILOT_PROVIDER_TYPE",
    "COPILOT_PROVIDER_API_KEY",
    "COPILOT_MODEL",
    "COPILOT_OFFLINE",
  ],
  keeps: { without: "each", patterns: [], places: true, sandbox: false },
  translate: (asked) => {
    const { bounds, model, thinking, roots, usageFile } = asked;
    const given = abilityNames.filter((name) => bounds.may[name] === "yes");
    // GPT-5 Codex models get this tool instead of create and edit; it can do both.
    const patches = given.includes("write_file") && given.includes("edit_file") ? ["apply_patch"] : [];
    const tools = [...given.flatMap((name) => names[name]), ...patches];
    const allowed = [...new Set(given.flatMap((name) => rights[name] ?? []))];
    const level = thinking === undefined ? undefined : thinkingLevel(thinking);
    return {
      args: [
        "--output-format=json",
        "--stream=on",
        "--no-color",
        "--no-auto-update",
        "--no-custom-instructions",
        "--disable-builtin-mcps",
        "--disallow-temp-dir",
        `--usage-output-file=${usageFile}`,
        `--available-tools=${tools.length === 0 ? NONE : tools.join(",")}`,
        ...tools.map((tool) => `--allow-tool=${tool}`),
        ...allowed.map((right) => `--allow-tool=${right}`),
        ...roots.map((root) => `--add-dir=${root}`),
        ...(model === undefined ? [] : [`--model=${withoutProvider(model, "copilot", "github-copilot")}`]),
        ...(level === undefined ? [] : [`--reasoning-effort=${level === "off" ? "none" : level}`]),
      ],
      input: together(asked),
    };
  },
  usageIn: (written) => {
    const all = Object.values(field(written, "modelMetrics") ?? {}).map((metrics) => field(metrics, "usage"));
    const sum = (name: string): number => all.reduce<number>((total, usage) => total + numberIn(usage, name), 0);
    const [cacheRead, cacheWrite] = [sum("cacheReadTokens"), sum("cacheWriteTokens")];
    // Copilot's number of input tokens includes the cached tokens
    const input = Math.max(0, sum("inputTokens") - cacheRead - cacheWrite);
    const model = textIn(written, "currentModel");
    return { usage: { input, output: sum("outputTokens"), cacheRead, cacheWrite }, ...(model && { model }) };
  },
  reader: (heard) => {
    let streamed = false;
    return (event) => {
      const data = field(event, "data");
      switch (textIn(event, "type")) {
        case "assistant.message_delta":
          streamed = true;
          return heard.text(textIn(data, "deltaContent"));
        case "assistant.reasoning_delta":
          return heard.thinking(textIn(data, "deltaContent"));
        case "assistant.message": {
          const calls = listIn(data, "toolRequests");
          // The last turn stays open, because the total usage is known only after the program has ended.
          if (calls.length === 0) {
            if (!streamed) heard.text(textIn(data, "content"));
            return;
          }
          for (const call of calls)
            heard.call({ id: textIn(call, "toolCallId"), name: textIn(call, "name"), input: field(call, "arguments") });
          streamed = false;
          return heard.turnEnded({
            text: textIn(data, "content"),
            ...(textIn(data, "model") && { model: textIn(data, "model") }),
          });
        }
        case "tool.execution_complete": {
          const error = field(data, "success") !== true;
          const text = textIn(data, "result", "content") || textIn(data, "error", "message");
          return heard.result(textIn(data, "toolCallId"), { text, error });
        }
        case "session.error":
          return heard.failed(textIn(data, "message") || "it failed");
      }
    };
  },
};
