import { type Ability, abilityNames } from "./bounds.ts";
import { type ForeignTool, field, numberIn, textIn, together, withoutProvider } from "./tool.ts";

/** Gemini CLI's tool names for the abilities. */
const names: Readonly<Record<Ability, readonly string[]>> = {
  read_file: ["read_file", "read_many_files"],
  list_files: ["list_directory"],
  glob: ["glob"],
  grep_files: ["grep_search", "search_file_content"],
  write_file: ["write_file"],
  edit_file: ["replace"],
  bash: ["run_shell_command"],
  http_get: ["web_fetch"],
  web_search: ["google_web_search"],
};
/** Features that are switched off because the task did not ask for them. */
const others = ["invoke_agent", "delegate_to_agent", "activate_skill", "save_memory", "ask_user", "enter_plan_mode"];

/** Gemini CLI, headless: its policy engine gets a rule for each tool, in the tier that a project cannot override. */
export const geminiTool: ForeignTool = {
  install: "npm install -g @google/gemini-cli",
  variables: [
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GEMINI_CLI_HOME",
  ],
  keeps: { without: "each", patterns: [], places: true, sandbox: false },
  // Gemini CLI works only in a trusted folder. In a trusted folder it also follows these settings of the folder.
  obeys: [".gemini/settings.json", ".gemini/.env", ".env"],
  translate: (asked) => {
    const { bounds, model, roots, rulesFile } = asked;
    const given = abilityNames.filter((name) => bounds.may[name] === "yes");
    const taken = abilityNames.filter((name) => bounds.may[name] !== "yes");
    const rule = (tools: readonly string[], decision: string, priority: number): string =>
      `[[rule]]\ntoolName = ${JSON.stringify(tools)}\ndecision = "${decision}"\npriority = ${priority}\n`;
    return {
      args: [
        "--output-format=stream-json",
        "--approval-mode=default",
        `--admin-policy=${rulesFile}`,
        "--allowed-mcp-server-names=none",
        "--extensions=none",
        ...(model === undefined ? [] : [`--model=${withoutProvider(model, "google", "gemini")}`]),
        ...roots.map((root) => `--include-directories=${root}`),
      ],
      env: { GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true" },
      rules: [
        ...(given.length > 0
          ? [
              rule(
                given.flatMap((name) => names[name]),
                "allow",
                900,
              ),
            ]
          : []),
        rule([...taken.flatMap((name) => names[name]), ...others], "deny", 990),
      ].join("\n"),
      input: together(asked),
    };
  },
  reader: (heard) => {
    let said = false; // text after a result begins a new turn
    return (event) => {
      switch (textIn(event, "type")) {
        case "message":
          if (textIn(event, "role") !== "assistant") return;
          if (said) heard.turnEnded({ usd: 0 });
          said = false;
          return heard.text(textIn(event, "content"));
        case "tool_use":
          return heard.call({
            id: textIn(event, "tool_id"),
            name: textIn(event, "tool_name"),
            input: field(event, "parameters"),
          });
        case "tool_result": {
          said = true;
          const text = textIn(event, "output") || textIn(event, "error", "message");
          return heard.result(textIn(event, "tool_id"), { text, error: textIn(event, "status") !== "success" });
        }
        case "error":
          return textIn(event, "severity") === "error" ? heard.failed(textIn(event, "message")) : undefined;
        case "result": {
          const usage = {
            input: numberIn(event, "stats", "input"),
            output: numberIn(event, "stats", "output_tokens"),
            cacheRead: numberIn(event, "stats", "cached"),
          };
          heard.turnEnded({ usage });
          if (textIn(event, "status") !== "success") heard.failed(textIn(event, "error", "message") || "it failed");
        }
      }
    };
  },
};
