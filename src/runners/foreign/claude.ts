import type { Usage } from "../../core/outcome/usage.ts";
import type { Rule } from "../../core/rules/rule.ts";
import { thinkingLevel } from "../../core/vocabulary/thinking.ts";
import { type Ability, abilityNames, type Bounds } from "./bounds.ts";
import { type ForeignTool, field, listIn, numberIn, type ToolListener, textIn, withoutProvider } from "./tool.ts";
import { ownEntry } from "../../core/text/json.ts";

/** Claude Code's tool names for the abilities. It has no tool that only lists files. */
const names: Readonly<Partial<Record<Ability, string>>> = {
  read_file: "Read",
  glob: "Glob",
  grep_files: "Grep",
  write_file: "Write",
  edit_file: "Edit",
  bash: "Bash",
  http_get: "WebFetch",
  web_search: "WebSearch",
};

/**
 * Claude Code, headless: calls that are not allowed are refused without asking; only the settings that subcrew passes
 * apply.
 */
export const claudeTool: ForeignTool = {
  install: "npm install -g @anthropic-ai/claude-code",
  variables: [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
  ],
  // Claude Code's command rules compare words, so `/bin/rm` passes a rule about `rm`. All other rules apply to each of
  // its tools.
  keeps: { without: "each", patterns: abilityNames.filter((name) => name !== "bash"), places: true, sandbox: false },
  translate: ({ prompt, instructions, model, thinking, bounds, roots }) => {
    const has = abilityNames.flatMap((name) => (["yes", "some"].includes(bounds.may[name]) ? (names[name] ?? []) : []));
    const level = thinking === undefined ? undefined : thinkingLevel(thinking);
    return {
      args: [
        "--print",
        "--output-format=stream-json",
        "--verbose",
        "--include-partial-messages",
        "--no-session-persistence",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--setting-sources=",
        "--permission-mode=dontAsk",
        `--tools=${has.join(",")}`,
        `--settings=${JSON.stringify({ permissions: { allow: allowed(bounds, roots), deny: denied(bounds) } })}`,
        ...(instructions.trim() === "" ? [] : [`--append-system-prompt=${instructions}`]),
        ...(model === undefined ? [] : [`--model=${withoutProvider(model, "anthropic")}`]),
        ...(level === undefined || level === "off" || level === "minimal" ? [] : [`--effort=${level}`]),
        ...roots.map((root) => `--add-dir=${root}`),
      ],
      env: {
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      },
      input: prompt,
    };
  },
  reader,
};

/** The permission rules that allow something; file tools are limited to the given folders. */
function allowed({ may, allow }: Bounds, roots: readonly string[]): string[] {
  const places = ["./**", ...roots.map((root) => `/${root}/**`)];
  return abilityNames.flatMap((name) => {
    if (may[name] === "some")
      return allow.filter(({ tool }) => tool === name).flatMap((rule) => ruleFor(rule, "allow"));
    if (may[name] !== "yes") return [];
    if (name === "read_file" || name === "glob" || name === "grep_files")
      return places.map((place) => `Read(${place})`);
    if (name === "write_file" || name === "edit_file") return places.map((place) => `Edit(${place})`);
    return names[name] ?? [];
  });
}

const denied = ({ deny, closed }: Bounds): string[] => [
  ...new Set([...deny, ...closed].flatMap((rule) => ruleFor(rule, "deny"))),
];

/** Converts a rule to the syntax of Claude Code. A rule that it cannot express exactly is made stricter. */
function ruleFor({ tool, pattern = "" }: Rule, sort: "allow" | "deny"): string[] {
  const path = pattern.startsWith("/")
    ? `/${pattern}`
    : pattern.includes("/")
      ? `./${pattern.replace(/^\.\//, "")}`
      : `**/${pattern}`;
  const whole = path.endsWith("/") ? `${path}**` : path;
  switch (tool as Ability) {
    case "bash":
      return [`Bash(${pattern.replace(/ \*$/, ":*")})`];
    case "write_file":
    case "edit_file":
      return [`Edit(${whole})`];
    case "http_get":
      return webRule(pattern, sort);
    case "web_search":
      return sort === "deny" ? ["WebSearch"] : [];
    default:
      return [`Read(${whole})`];
  }
}

/**
 * Converts a rule about web access. Claude Code's rules match only whole hosts without subdomains, so a denied host
 * denies the whole web, and a partial host is not allowed.
 */
function webRule(pattern: string, sort: "allow" | "deny"): string[] {
  if (sort === "deny") return ["WebFetch"];
  const [, host] = /^(?:domain:|https:\/\/)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:\/\*{0,2})?$/i.exec(pattern) ?? [];
  return host === undefined ? [] : [`WebFetch(domain:${host})`];
}

/**
 * Emits a turn once it is complete. The last turn carries the price of all turns, since only the final record contains
 * it.
 */
function reader(heard: ToolListener): (event: Readonly<Record<string, unknown>>) => void {
  let usage: Partial<Usage> = {};
  let over = false;
  const end = (usd: number): void => {
    if (over) heard.turnEnded({ usage, usd });
    over = false;
  };
  const events: Readonly<Record<string, (event: unknown) => void>> = {
    stream_event: (event) => {
      const kind = textIn(event, "event", "type");
      if (kind === "message_start") {
        end(0);
        usage = usageOf(field(event, "event", "message", "usage"));
      }
      if (kind === "content_block_delta") {
        const text = textIn(event, "event", "delta", "text");
        const thought = textIn(event, "event", "delta", "thinking");
        if (text !== "") heard.text(text);
        if (thought !== "") heard.thinking(thought);
      }
      if (kind === "message_delta") {
        usage = { ...usage, output: numberIn(event, "event", "usage", "output_tokens") };
        over = true;
      }
    },
    assistant: (event) => {
      for (const block of listIn(event, "message", "content"))
        if (textIn(block, "type") === "tool_use")
          heard.call({ id: textIn(block, "id"), name: textIn(block, "name"), input: field(block, "input") });
    },
    user: (event) => {
      for (const block of listIn(event, "message", "content"))
        if (textIn(block, "type") === "tool_result") {
          const error = field(block, "is_error") === true;
          heard.result(textIn(block, "tool_use_id"), { text: contentOf(field(block, "content")), error });
        }
    },
    result: (event) => {
      end(numberIn(event, "total_cost_usd"));
      const subtype = textIn(event, "subtype");
      if (subtype === "success" && field(event, "is_error") !== true) heard.answer(textIn(event, "result"));
      else heard.failed(textIn(event, "result") || subtype, subtype === "error_max_turns" ? "MAX_TURNS" : undefined);
    },
  };
  return (event) => {
    // Messages of Claude Code's subagents are in the same stream; they belong to the call that started them.
    if (textIn(event, "parent_tool_use_id") === "") ownEntry(events, textIn(event, "type"))?.(event);
  };
}

function usageOf(usage: unknown): Partial<Usage> {
  return {
    input: numberIn(usage, "input_tokens"),
    output: numberIn(usage, "output_tokens"),
    cacheRead: numberIn(usage, "cache_read_input_tokens"),
    cacheWrite: numberIn(usage, "cache_creation_input_tokens"),
  };
}

/** The text of a content field: a string, or a list of blocks. */
function contentOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block) => textIn(block, "text")).join("\n") : "";
}
