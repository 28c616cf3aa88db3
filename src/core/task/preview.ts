import { cutHead } from "../text/cut.ts";
import { reveal } from "../text/sanitize.ts";

/**
 * The subject of a tool call in a few words on one line: the path, the command, the pattern. Control characters are
 * shown as visible symbols, so the line is safe to print.
 */
export function extractToolArgsPreview(toolName: string, args: Record<string, unknown>): string {
  const preview = previews.get(toolName)?.(args);
  return preview || usualKey(args) || firstText(args);
}

/**
 * A tool call as a line of progress, in the style of the program gen-code: `TaskOutput(task-123)`, `Agent: Explore find
 * the parser`.
 */
export function progressLabel(toolName: string, args: Record<string, unknown>): string {
  const who = text(args, "subagent_type");
  if (who !== "") return `${toolName}: ${start(`${who} ${text(args, "description", "prompt")}`.trim(), TEXT_CHARS)}`;
  const preview = extractToolArgsPreview(toolName, args);
  return preview === "" ? toolName : `${toolName}(${preview})`;
}

type Args = Readonly<Record<string, unknown>>;
type Preview = (args: Args) => string;

/**
 * Previews by tool: first tool names of the program pi-parallel-agents, then the canonical names. A tool without a row
 * shows its usual arguments.
 */
const previews: ReadonlyMap<string, Preview> = new Map([
  ["read", range],
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
]);

/** Argument names that usually describe a tool call, most specific first. */
const USUAL_KEYS = [
  "command",
  "path",
  "file_path",
  "file",
  "pattern",
  "query",
  "url",
  "task",
  "prompt",
  "message",
  "question",
  "name",
  "key",
  "id",
];

const PATH_CHARS = 50;
const TASK_CHARS = 50;
const TEXT_CHARS = 60;
const ELLIPSIS = "...";
/** Enough characters to fill a preview; the rest of a longer argument is not read. */
const LOOKED_AT = 500;

function path(args: Args): string {
  return end(text(args, "path", "file_path"), PATH_CHARS);
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

function size(args: Args): string {
  const file = path(args);
  return file !== "" && typeof args.content === "string" ? `${file} (${args.content.length} chars)` : file;
}

function command(args: Args): string {
  return start(text(args, "command"), TEXT_CHARS);
}

function pattern(args: Args): string {
  const wanted = start(text(args, "pattern"), TEXT_CHARS);
  const place = path(args);
  return wanted !== "" && place !== "" ? `${wanted} in ${place}` : wanted;
}

function found(args: Args): string {
  const place = path(args);
  const name = start(text(args, "name", "pattern"), TEXT_CHARS);
  return place !== "" && name !== "" ? `${place} -name ${name}` : place;
}

function move(args: Args): string {
  const from = end(text(args, "from", "source"), PATH_CHARS);
  const to = end(text(args, "to", "destination"), PATH_CHARS);
  return from !== "" && to !== "" ? `${from} -> ${to}` : from;
}

function mcp(args: Args): string {
  return start(text(args, "tool"), TEXT_CHARS) || labelled(args, "server") || labelled(args, "search");
}

function delegated(args: Args): string {
  return start(text(args, "task"), TASK_CHARS) || labelled(args, "agent");
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
  const action = text(args, "action");
  const title = text(args, "title");
  return start(action !== "" && title !== "" ? `${action}: ${title}` : action || title, TEXT_CHARS);
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

/** The first of these arguments that is a non-empty string. */
function text(args: Args, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return "";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function start(value: string, chars: number): string {
  const { text: looked, cut } = cutHead(value, LOOKED_AT);
  const line = oneLine(looked);
  return line.length <= chars && !cut ? line : cutHead(line, chars - ELLIPSIS.length).text + ELLIPSIS;
}

/** The last characters of a path, which say more than its first ones. */
function end(value: string, chars: number): string {
  const line = oneLine(value.slice(-LOOKED_AT));
  if (line.length <= chars) return line;
  const tail = line.slice(line.length - chars + ELLIPSIS.length);
  return ELLIPSIS + tail.replace(/^[\udc00-\udfff]/, "");
}

const oneLine = (value: string): string => reveal(value.replace(/[\n\t]+/g, " "));
