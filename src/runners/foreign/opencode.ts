import { type Ability, abilityNames, type Bounds } from "./bounds.ts";
import { type ForeignTool, field, numberIn, textIn, together } from "./tool.ts";

/** opencode's names of the permissions for the abilities. */
const names: Readonly<Record<Ability, readonly string[]>> = {
  read_file: ["read"],
  list_files: ["list"],
  glob: ["glob"],
  grep_files: ["grep"],
  write_file: [],
  edit_file: ["edit"],
  bash: ["bash"],
  http_get: ["webfetch"],
  web_search: ["websearch"],
};

/** opencode, headless: it gets a permission for each tool, and refuses every call about which it would ask. */
export const opencodeTool: ForeignTool = {
  install: "npm install -g opencode-ai",
  variables: [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
  ],
  keeps: { without: "each", patterns: [], places: true, sandbox: false },
  // The documented switches do not make opencode ignore these files, as tests with the real program showed.
  obeys: ["opencode.json", "opencode.jsonc", ".opencode"],
  translate: (asked) => ({
    args: ["run", "--format=json", "--pure", ...(asked.model === undefined ? [] : [`--model=${asked.model}`])],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        permission: permissions(asked.bounds),
        share: "disabled",
        autoupdate: false,
        mcp: {},
      }),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_PROJECT_CONFIG: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    },
    input: together(asked),
  }),
  reader: (heard) => (event) => {
    const part = field(event, "part");
    switch (textIn(event, "type")) {
      case "text":
        return heard.text(textIn(part, "text"));
      case "reasoning":
        return heard.thinking(textIn(part, "text"));
      case "tool_use": {
        const id = textIn(part, "callID");
        heard.call({ id, name: textIn(part, "tool"), input: field(part, "state", "input") });
        const error = textIn(part, "state", "status") === "error";
        return heard.result(id, { text: textIn(part, "state", "output") || textIn(part, "state", "error"), error });
      }
      case "step_finish": {
        const usage = {
          input: numberIn(part, "tokens", "input"),
          output: numberIn(part, "tokens", "output") + numberIn(part, "tokens", "reasoning"),
          reasoning: numberIn(part, "tokens", "reasoning"),
          cacheRead: numberIn(part, "tokens", "cache", "read"),
          cacheWrite: numberIn(part, "tokens", "cache", "write"),
        };
        return heard.turnEnded({ usage, usd: numberIn(part, "cost") });
      }
      case "error":
        return heard.failed(textIn(event, "error", "data", "message") || textIn(event, "error", "name") || "it failed");
    }
  },
};

/** In opencode the last matching rule wins, so allow rules come after the rule that denies everything. */
function permissions({ may }: Bounds): Record<string, string> {
  const writes = may.write_file === "yes" && may.edit_file === "yes";
  const rights = abilityNames.flatMap((name) => {
    const decision = (name === "edit_file" ? writes : may[name] === "yes") ? "allow" : "deny";
    return names[name].map((right) => [right, decision] as const);
  });
  return { "*": "deny", ...Object.fromEntries(rights), external_directory: "deny", task: "deny", skill: "deny" };
}
