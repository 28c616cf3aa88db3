import { cutHead } from "../text/cut.ts";
import { isRecord } from "../text/json.ts";
import { reveal } from "../text/sanitize.ts";

/**
 * The subject of a tool call in a few words on one line: the path, the command, the pattern. Control characters are
 * shown as visible symbols, so the line is safe to print.
 */
export function extractToolArgsPreview(toolName: string, args: Record<string, unknown>): string {
  if (!isRecord(args)) return "";
  const preview = previews.get(toolName)?.(args);
  return preview || usualKey(args) || firstText(args);
}

/** The preview of a tool call without secrets: they are removed before the texts are cut. */
export function redactedPreview(toolName: string, args: Args, redact: (text: string) => string): string {
  const clean = (key: string, value: unknown): unknown => {
    // a preview shows only the length of the argument `content`
    if (typeof value !== "string" || key === "content") return value;
    return value.length <= 2 * MOST_REDACTED
      ? redact(value)
      : redact(value.slice(0, MOST_REDACTED)) + redact(value.slice(-MOST_REDACTED));
  };
  return extractToolArgsPreview(
    toolName,
    Object.fromEntries(Object.entries(args).map(([key, value]) => [key, clean(key, value)])),
  );
}

/** How many characters at both ends of an argument are searched for secrets; a preview shows fewer. */
const MOST_REDACTED = 4_000;

/**
 * A tool call as a line of progress, in the style of the program gen-code: `TaskOutput(task-123)`, `Agent: Explore find
 * the parser`. A tool that is unknown to both gen-code and subcrew shows no arguments.
 */
export function progressLabel(toolName: string, args: Record<string, unknown>): string {
  if (toolName === "Agent" || toolName === "Task") return agentLabel(toolName, args);
  const value = labels.get(toolName)?.(args) || previews.get(toolName)?.(args) || "";
  return `${toolName}(${value})`;
}

function agentLabel(toolName: string, args: Args): string {
  const what = text(args, "description") || start(text(args, "prompt"), PROMPT_CHARS);
  const words = [text(args, "subagent_type"), what].filter((word) => word !== "");
  return [toolName, start(words.join(" "), LABEL_CHARS)].filter((part) => part !== "").join(": ");
}

type Args = Readonly<Record<string, unknown>>;
type Preview = (args: Args) => string;

/**
 * Previews by tool: first tool names of the program pi-parallel-agents, then the canonical names. A tool without a row
 * shows its usual arguments.
 */
const previews: ReadonlyMap<string, Preview> = new Map([
  ["read", piRange],
  ["write", size],
  ["edit", path],
  ["ls", path],
  ["bash", command],
  ["grep", pattern],
  ["rg", pattern],
  ["find", found],
  ["mcp", mcp],
  ["subagent", delegated],
  ["todo", todo],
  ["read_file", range],
  ["write_file", size],
  ["edit_file", path],
  ["list_files", path],
  ["delete_file", path],
  ["get_file_info", path],
  ["move_file", move],
  ["grep_files", pattern],
  ["glob", pattern],
  ["task", delegated],
  ["Task", spawned],
  ["Agent", spawned],
  ["spawn_subagent", spawned],
  ["invoke_agent", spawned],
  ["delegate_to_agent", spawned],
  ["TaskOutput", started],
  ["notify", (args) => start(text(args, "message"), TEXT_CHARS)],
  ["send_message", (args) => start(text(args, "message"), TEXT_CHARS)],
  ["ask", (args) => start(text(args, "question"), TEXT_CHARS)],
  ["task_replay", (args) => start(text(args, "id"), TEXT_CHARS)],
  ["bash_output", (args) => start(text(args, "id"), TEXT_CHARS)],
  ["kill_shell", (args) => start(text(args, "id", "shell_id"), TEXT_CHARS)],
]);

const argument =
  (key: string): Preview =>
  (args) =>
    start(text(args, key), TEXT_CHARS);
const numberedTask: Preview = (args) => start(text(args, "taskId").replace(/^(?=.)/, "#"), TEXT_CHARS);

/** The argument that gen-code shows for each of its tools. */
const labels: ReadonlyMap<string, Preview> = new Map([
  ["Read", argument("file_path")],
  ["Write", argument("file_path")],
  ["Edit", argument("file_path")],
  ["Glob", argument("pattern")],
  ["Grep", argument("pattern")],
  ["Bash", argument("command")],
  ["WebFetch", argument("url")],
  ["WebSearch", argument("query")],
  ["TaskCreate", (args) => start(text(args, "subject"), TASK_CHARS)],
  ["TaskUpdate", numberedTask],
  ["TaskGet", numberedTask],
  ["TaskOutput", argument("task_id")],
]);

/** Argument names that usually describe a tool call, most specific first: the names that pi-parallel-agents uses. */
const USUAL_KEYS = ["command", "path", "file", "pattern", "query", "url", "task", "prompt", "name", "action"];

const PATH_CHARS = 50;
/** The maximum length of a path that is followed by the size of its file. */
const SIZED_PATH_CHARS = 40;
const TITLE_CHARS = 40;
/** The number of lines that the tool `read` of the program pi reads when a call gives no number. */
const PI_LINES = 100;
const TASK_CHARS = 50;
const PROMPT_CHARS = 40;
const LABEL_CHARS = 200;
const TEXT_CHARS = 60;
const ELLIPSIS = "...";
/** The number of characters that is enough to fill a preview; the rest of a longer argument is not read. */
const LOOKED_AT = 500;

function path(args: Args): string {
  return end(shown(args, "path", "file_path"), PATH_CHARS);
}

/**
 * The lines that are read. Their end is offset plus limit, as pi-parallel-agents and its conformance cases count it.
 */
function range(args: Args): string {
  const file = path(args);
  const { offset, limit } = args;
  if (file === "" || (!isCount(offset) && !isCount(limit))) return file;
  const first = isCount(offset) ? offset : 1;
  return `${file} [${first}-${isCount(limit) ? first + limit : ""}]`;
}

/**
 * A file and the range of lines that is read, in the format of pi-parallel-agents: an `offset` or `limit` of zero
 * counts as missing, and both may be given as texts.
 */
function piRange(args: Args): string {
  const file = path(args);
  const [offset, limit] = [count(args.offset), count(args.limit)];
  if (file === "" || (offset === 0 && limit === 0)) return file;
  const first = offset || 1;
  return `${file} [${first}-${first + (limit || PI_LINES)}]`;
}

function size(args: Args): string {
  const file = end(shown(args, "path", "file_path"), SIZED_PATH_CHARS);
  const content = shown(args, "content");
  return file !== "" && content !== "" ? `${file} (${content.length} chars)` : file;
}

function command(args: Args): string {
  return start(shown(args, "command"), TEXT_CHARS);
}

function pattern(args: Args): string {
  const wanted = shown(args, "pattern");
  const place = shown(args, "path", "file_path");
  return start(wanted !== "" && place !== "" ? `${brief(wanted)} in ${place}` : wanted, TEXT_CHARS);
}

function found(args: Args): string {
  const place = shown(args, "path", "file_path");
  const name = shown(args, "name", "pattern");
  return start(place !== "" && name !== "" ? `${brief(place)} -name "${name}"` : place, TEXT_CHARS);
}

/** The beginning of a text, for a preview in which another text follows it. */
const brief = (value: string): string => cutHead(value, LOOKED_AT).text;

function move(args: Args): string {
  const from = end(text(args, "from", "source"), PATH_CHARS);
  const to = end(text(args, "to", "destination"), PATH_CHARS);
  return from !== "" && to !== "" ? `${from} -> ${to}` : from;
}

function mcp(args: Args): string {
  return whole(args, "tool") || whole(args, "search") || whole(args, "server");
}

function delegated(args: Args): string {
  return start(shown(args, "task"), TASK_CHARS) || whole(args, "agent");
}

/** The started agent and its task: `explore: find the parser`. */
function spawned(args: Args): string {
  const who = text(args, "subagent_type", "type", "agent_name");
  const what = text(args, "description", "prompt", "input", "query");
  return start(who !== "" && what !== "" ? `${who}: ${what}` : who || what, TEXT_CHARS);
}

/** The id of the task that a tool call asks about, and the requested action. */
function started(args: Args): string {
  return start([text(args, "action"), text(args, "task_id", "taskId")].filter(Boolean).join(" "), TEXT_CHARS);
}

function todo(args: Args): string {
  const action = shown(args, "action");
  const about = cutHead(shown(args, "title"), TITLE_CHARS).text || shown(args, "id");
  return start(action !== "" && about !== "" ? `${action}: ${about}` : action, LOOKED_AT);
}

function usualKey(args: Args): string {
  return start(text(args, ...USUAL_KEYS), TEXT_CHARS);
}

function firstText(args: Args): string {
  const key = Object.keys(args).find((name) => text(args, name) !== "");
  return key === undefined ? "" : labelled(args, key);
}

function labelled(args: Args, key: string): string {
  const value = text(args, key);
  return value === "" ? "" : start(`${key}: ${value}`, TEXT_CHARS);
}

/** The name and the whole value of an argument. */
function whole(args: Args, key: string): string {
  const value = shown(args, key);
  return value === "" ? "" : start(`${key}: ${value}`, LOOKED_AT);
}

/** The first of these arguments that is a non-empty string. */
function text(args: Args, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

/** The first of these arguments that is a non-empty string, a number except zero, or true, as text. */
function shown(args: Args, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    if (value && (typeof value === "string" || value === true || isCount(value))) return String(value);
  }
  return "";
}

/** A number, or a text of digits as a number; zero for anything else. */
function count(value: unknown): number {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return isCount(number) ? number : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function start(value: string, chars: number): string {
  const { text: looked, cut } = cutHead(value, LOOKED_AT);
  const line = oneLine(looked);
  return line.length <= chars && !cut ? line : cutHead(line, chars - ELLIPSIS.length).text + ELLIPSIS;
}

/** The last characters of a path, which say more than its first characters. */
function end(value: string, chars: number): string {
  const line = oneLine(value.slice(-LOOKED_AT));
  if (line.length <= chars) return line;
  const tail = line.slice(line.length - chars + ELLIPSIS.length);
  return ELLIPSIS + tail.replace(/^[\udc00-\udfff]/, "");
}

const oneLine = (value: string): string => reveal(value.replace(/[\n\t]+/g, " "));
