import { thinkingLevel } from "../../core/vocabulary/thinking.ts";
import { type Ability, abilityNames } from "./bounds.ts";
import { type ForeignTool, field, listIn, numberIn, textIn } from "./tool.ts";

/** pi's names for the abilities. */
const names: Readonly<Partial<Record<Ability, string>>> = {
  read_file: "read",
  list_files: "ls",
  glob: "find",
  grep_files: "grep",
  write_file: "write",
  edit_file: "edit",
  bash: "bash",
};

/** pi, headless: it gets the listed tools and asks for nothing; pi does not restrict where they write. */
export const piTool: ForeignTool = {
  install: "npm install -g @earendil-works/pi-coding-agent",
  variables: [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "PI_CODING_AGENT_DIR",
  ],
  keeps: { without: "each", patterns: [], places: false, sandbox: false },
  translate: ({ prompt, instructions, model, thinking, bounds, rulesFile }) => {
    const tools = abilityNames.flatMap((name) => (bounds.may[name] === "yes" ? (names[name] ?? []) : []));
    return {
      args: [
        "--print",
        "--mode",
        "json",
        "--no-session",
        "--no-extensions",
        "--no-skills",
        "--no-prompt-templates",
        "--offline",
        ...(tools.length === 0 ? ["--no-tools"] : ["--tools", tools.join(",")]),
        // The instructions are passed in a file: pi replaces an argument that is a file name by the content of that
        // file, so instructions such as `../.env` would send that file to the provider.
        ...(instructions.trim() === "" ? [] : ["--append-system-prompt", rulesFile]),
        ...(model === undefined ? [] : ["--model", model]),
        ...(thinking === undefined ? [] : ["--thinking", thinkingLevel(thinking)]),
      ],
      env: { PI_TELEMETRY: "0" },
      ...(instructions.trim() !== "" && { rules: instructions }),
      input: prompt,
    };
  },
  reader: (heard) => (event) => {
    switch (textIn(event, "type")) {
      case "message_update": {
        const piece = field(event, "assistantMessageEvent");
        if (textIn(piece, "type") === "text_delta") heard.text(textIn(piece, "delta"));
        if (textIn(piece, "type") === "thinking_delta") heard.thinking(textIn(piece, "delta"));
        return;
      }
      case "tool_execution_start":
        return heard.call({
          id: textIn(event, "toolCallId"),
          name: textIn(event, "toolName"),
          input: field(event, "args"),
        });
      case "tool_execution_end": {
        const text = listIn(event, "result", "content")
          .map((block) => textIn(block, "text"))
          .join("\n");
        return heard.result(textIn(event, "toolCallId"), { text, error: field(event, "isError") === true });
      }
      case "turn_end":
        return turnEnded(field(event, "message"), heard);
      case "auto_retry_end":
        return field(event, "success") === false ? heard.failed(textIn(event, "finalError")) : undefined;
    }
  },
};

function turnEnded(message: unknown, heard: Parameters<ForeignTool["reader"]>[0]): void {
  if (textIn(message, "stopReason") === "error") return; // pi retries by itself, and reports when it gives up
  const text = listIn(message, "content")
    .filter((block) => textIn(block, "type") === "text")
    .map((block) => textIn(block, "text"))
    .join("");
  const usage = {
    input: numberIn(message, "usage", "input"),
    output: numberIn(message, "usage", "output"),
    cacheRead: numberIn(message, "usage", "cacheRead"),
    cacheWrite: numberIn(message, "usage", "cacheWrite"),
  };
  heard.turnEnded({ text, usage, usd: numberIn(message, "usage", "cost", "total"), model: textIn(message, "model") });
}
