import { fileURLToPath } from "node:url";
import { approvalText } from "../../core/policy/approval.ts";
import { rulesAlike } from "../../core/policy/judge.ts";
import { permit } from "../../core/policy/permit.ts";
import { type LocatedSubject, type Subject, subjectsText } from "../../core/rules/call-subject.ts";
import type { Fact } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import { verdictOn } from "../../runtime/access/approve-call.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { isOpenRefusal, openInside, rootOf } from "../../runtime/files/open-contained.ts";
import { callTool } from "../../runtime/loop/call-tool.ts";
import type { AcpHost, ToolCallUpdate } from "./acp-sdk.ts";
import { field, listIn, textIn } from "./tool.ts";
import { defined } from "../../core/text/defined.ts";
import { ownEntry } from "../../core/text/json.ts";

type Denial = Pick<Extract<Fact, { type: "tool.denied" }>, "hint" | "target" | "unasked">;
type Task = Readonly<{ assignment: Assignment; context: PerformContext }>;

/**
 * Handles the requests of an ACP agent with the rules of its task: calls are judged, and files pass the same checks as
 * in subcrew's own tools.
 */
export function acpHost({ assignment, context }: Task): Omit<AcpHost, "heard"> {
  const { rights, tools, toolContext, access } = assignment;
  let count = 0;
  const deny = (call: string, tool: string, rule: string, text: string, more: Denial = {}): false => {
    context.emit({ type: "tool.denied", call, tool, rule, text, ...more });
    return false;
  };
  const judged = async (call: string, tool: Tool, subjects: readonly Subject[], input: unknown): Promise<boolean> => {
    const { allowed, rule } = permit(rights, tool.name);
    if (!allowed) return deny(call, tool.name, rule, `DENIED: ${tool.name} is not available (${rule}).`);
    const located = await locateAll(subjects, assignment).catch((thrown: unknown) => {
      if (isOpenRefusal(thrown)) return thrown;
      throw thrown;
    });
    if (located instanceof Error)
      return deny(call, tool.name, located.code.toLowerCase(), `DENIED: ${located.message}.`);
    const shell = { sandboxed: false, waived: access?.demands.sandbox === "off", roots: [toolContext.cwd] };
    const verdict = verdictOn(tool, assignment, { subjects: located, shell });
    if (verdict.decision === "allow") return true;
    const about = {
      ...(verdict.hint !== "" && { hint: verdict.hint }),
      ...(tool.effect === "write" && { target: subjectsText(located) }),
    };
    if (verdict.decision === "deny" || !context.attended)
      return deny(
        call,
        tool.name,
        verdict.rule,
        `DENIED: ${tool.name} was not carried out: ${verdict.why} (${verdict.rule}).`,
        { ...about, ...(verdict.decision === "ask" && { unasked: true as const }) },
      );
    const question = approvalText({ agent: rights.name, tool: tool.name, input, verdict });
    const answer = await context.ask(question, {
      call,
      ...defined({ inPerson: verdict.inPerson }),
      signal: context.signal,
    });
    if (!answer?.approve)
      return deny(call, tool.name, "the person", `DENIED: ${answer ? "the person said no" : "nobody answered"}.`, {
        ...about,
        ...(!answer && { unasked: true as const }),
      });
    if (answer.always && tool.name !== "bash") await access?.agree(rulesAlike(tool.name, located), answer.scope);
    return true;
  };
  const read: AcpHost["read"] = async ({ path, line = 1, limit }) => {
    const call = `read_${++count}`;
    const tool = tools.get("read_file");
    if (!tool || !(await judged(call, tool, [{ kind: "path", path, change: false }], { path })))
      throw new Error(`${path} may not be read`);
    const text = await contentsOf(path, assignment).catch((thrown: unknown) => {
      if (isOpenRefusal(thrown) && thrown.code === "MISSING") return undefined;
      throw thrown;
    });
    if (text === undefined) return undefined;
    return limit === undefined && line <= 1
      ? text
      : text
          .split("\n")
          .slice(line - 1, limit === undefined ? undefined : line - 1 + limit)
          .join("\n");
  };
  return {
    may: { read: permit(rights, "read_file").allowed, write: permit(rights, "write_file").allowed },
    allows: (call) => {
      const { name, subjects } = aboutOf(call);
      const tool = tools.get(name);
      return tool
        ? judged(call.toolCallId, tool, subjects, call.rawInput ?? { title: call.title ?? "" })
        : Promise.resolve(false);
    },
    read,
    write: async ({ path, content }) => {
      const answer = await callTool(
        { id: `write_${++count}`, name: "write_file", input: { path, content } },
        assignment,
        context,
      );
      if (answer.error) throw new Error(answer.text);
    },
  };
}

/** Maps the kinds of tool calls in ACP to subcrew's tools. An unknown kind is treated as running a program. */
const kinds: Readonly<Record<string, string>> = {
  read: "read_file",
  search: "grep_files",
  edit: "edit_file",
  delete: "delete_file",
  move: "move_file",
  execute: "bash",
  fetch: "http_get",
  think: "todo",
};

/** The tool of subcrew that corresponds to a call of an ACP agent, and the subject that permission rules judge. */
export function aboutOf(call: Pick<ToolCallUpdate, "kind" | "title" | "rawInput" | "locations" | "content">): {
  name: string;
  subjects: Subject[];
} {
  const name = ownEntry(kinds, call.kind ?? "") ?? "bash";
  const program = { name: "bash", subjects: [{ kind: "command" as const, command: commandIn(call) }] };
  if (name === "bash") return program;
  if (name === "http_get")
    return { name, subjects: [{ kind: "url", url: textIn(call.rawInput, "url") || (call.title ?? "") }] };
  const change = ["edit_file", "delete_file", "move_file"].includes(name);
  const paths = [
    ...listIn(call, "locations").map((place) => textIn(place, "path")),
    ...listIn(call, "content").map((part) => textIn(part, "path")),
    ...["path", "file_path", "filePath"].map((key) => textIn(call.rawInput, key)),
  ]
    .filter((path) => path !== "")
    .map(pathOf);
  // a change of unknown files is judged like a program, which may change any file
  if (change && paths.length === 0) return program;
  return { name, subjects: [...new Set(paths)].map((path) => ({ kind: "path", path, change })) };
}

/** The path that a file URI names: some agents send URIs, and rules apply to paths. */
function pathOf(text: string): string {
  try {
    return /^file:/i.test(text) ? fileURLToPath(text) : text;
  } catch {
    return "/"; // an invalid URI, or one of another machine: outside of every workspace
  }
}

function commandIn({ rawInput, title }: Pick<ToolCallUpdate, "rawInput" | "title">): string {
  const command = field(rawInput, "command") ?? field(rawInput, "cmd");
  if (Array.isArray(command)) return command.map(String).join(" ");
  return typeof command === "string" ? command : (title ?? "");
}

async function locateAll(
  subjects: readonly Subject[],
  { access }: Pick<Assignment, "access">,
): Promise<LocatedSubject[]> {
  return Promise.all(
    subjects.map(async (subject): Promise<LocatedSubject> => {
      if (access) return access.locate(subject);
      return subject.kind === "path" ? { kind: "path", places: [subject.path], change: subject.change } : subject;
    }),
  );
}

const MOST_BYTES = 10_000_000;

/** The text of a file, after checking that the task may read it. */
async function contentsOf(path: string, { toolContext, access }: Assignment): Promise<string> {
  const folders = [toolContext.cwd, ...(access?.roots ?? [])];
  const root = await rootOf(folders.find((folder) => folderContains(folder, path)) ?? toolContext.cwd);
  const judged = await locateAll([{ kind: "path", path, change: false }], access ? { access } : {});
  const closed = access?.closedIn("read_file", root.real, judged);
  const { handle, kind, stats } = await openInside({ ...root, ...closed }, path);
  try {
    if (kind !== "file") throw new Error(`${path} is not a file`);
    if (stats.size > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES} bytes`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}
