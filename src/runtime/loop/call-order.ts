import type { ToolCall } from "../../core/model/model.ts";
import { permit } from "../../core/policy/permit.ts";
import type { Subject } from "../../core/rules/call-subject.ts";
import { parseArguments } from "../../core/task/parse-arguments.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { TaskAccess } from "../../core/task/task-access.ts";
import type { CallOrder, Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { classOf } from "../../core/vocabulary/tool-class.ts";
import { unstyledToolName } from "../../core/vocabulary/tool-name-styles.ts";
import { canonicalName } from "../../core/vocabulary/tool-names.ts";

/** A path that a call touches, with everything below it. */
export type TouchedPath = Readonly<{ path: string; change: boolean }>;

/** What a call touches: exactly these real paths, or possibly anything if `paths` is absent. */
export type CallReach = Readonly<{ order: CallOrder; paths?: readonly TouchedPath[] }>;

/** The reach of a call that is refused, whatever the calls before it do. */
export const TOUCHES_NOTHING: CallReach = { order: "read", paths: [] };

type Ordered<T, R> = Readonly<{
  /** The maximum number of calls that run at once. */
  limit: number;
  /** What a call touches, as the files are now. */
  reach(call: T): CallReach | Promise<CallReach>;
  run(call: T): Promise<R>;
}>;

/**
 * Runs the calls of a turn so that they have the effects of their order: each starts after the calls before it started,
 * and after those ended that it may not overlap. Only then it is certain what it touches, because a call before it can
 * move a file or change a link.
 */
export async function inOrder<T, R>(calls: readonly T[], { limit, reach, run }: Ordered<T, R>): Promise<R[]> {
  const running = new Map<Promise<R>, CallReach>();
  const results: Promise<R>[] = [];
  for (const call of calls) {
    let touched = await reach(call);
    for (;;) {
      const before = [...running].filter(([, other]) => !mayOverlap(other, touched)).map(([result]) => result);
      if (before.length > 0) await Promise.all(before);
      else if (running.size >= limit) await Promise.race(running.keys());
      else break;
      touched = await reach(call);
    }
    const result = run(call);
    const ended = (): boolean => running.delete(result);
    result.then(ended, ended);
    running.set(result, touched);
    results.push(result);
  }
  return Promise.all(results);
}

/**
 * True if two calls of a turn may run at the same time: both only read, both start agents, or what they touch is
 * certainly disjoint.
 */
function mayOverlap(one: CallReach, other: CallReach): boolean {
  if (one.order === other.order && one.order !== "write") return true;
  if (one.paths?.length === 0 || other.paths?.length === 0) return true;
  const { paths } = other;
  if (one.paths === undefined || paths === undefined) return false;
  return one.paths.every((a) => paths.every((b) => (!a.change && !b.change) || areApart(a.path, b.path)));
}

/**
 * True if neither path is the other or lies below it. Paths that differ only in case or in the form of a character may
 * be the same file, depending on the file system.
 */
function areApart(one: string, other: string): boolean {
  const [a, b] = [folded(one), folded(other)];
  return !isBelow(a, b) && !isBelow(b, a);
}

const folded = (path: string): string => path.normalize("NFC").toLowerCase();

/** True if a path is a folder or in it. The empty path is the workspace; everything counts as in it. */
const isBelow = (path: string, folder: string): boolean =>
  folder === "" || path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

/** In which order a call must run beside other calls of its turn. */
export const callOrder = (tool: Tool, input: unknown): CallOrder =>
  tool.order?.(input) ?? (classOf(tool) === "spawn" ? "spawn" : tool.effect);

/** The tool that a call names, also in the spelling of another program. */
export function calledTool({ name }: ToolCall, { tools }: Assignment): Tool | undefined {
  return tools.get(name) ?? tools.get(canonicalName(name) ?? unstyledToolName(name) ?? "");
}

/**
 * Whether repeating a call counts as progress, if the call succeeds: a call that changes something is progress, a tool
 * that polls may be repeated.
 */
export function callProgress(call: ToolCall, assignment: Assignment): "changes" | "polls" | "none" {
  const known = parsedCall(call, assignment);
  if (!known) return "none";
  if (known.tool.polls) return "polls";
  const isChange = known.order === "write" && known.tool.effect === "write";
  return isChange || classOf(known.tool) === "spawn" ? "changes" : "none";
}

/** A call with its tool and its arguments; `undefined` if the call is refused. */
function parsedCall(call: ToolCall, assignment: Assignment): ParsedCall | undefined {
  const tool = calledTool(call, assignment);
  const parsed = tool && permit(assignment.rights, tool.name).allowed && parseArguments(tool, call.input);
  if (!tool || !parsed || "problem" in parsed) return undefined;
  return { tool, input: parsed.value, order: callOrder(tool, parsed.value) };
}

type ParsedCall = Readonly<{ tool: Tool; input: unknown; order: CallOrder }>;

/**
 * Returns what each call of a turn touches, as the files are at that moment. Only file tools touch certain paths. If the
 * calls need no order, nothing is resolved.
 */
export function reachesOf(
  calls: readonly ToolCall[],
  assignment: Assignment,
): (call: ToolCall) => Promise<CallReach> | CallReach {
  const { access } = assignment;
  const known = new Map(
    calls.flatMap((call) => {
      const { tool, input, order } = parsedCall(call, assignment) ?? {};
      if (!tool) return [];
      const subjects = ["read", "write"].includes(classOf(tool)) ? (tool.subjects?.(input) ?? []) : [];
      return [[call, { order, subjects }] as const];
    }),
  );
  const orders = new Set(Array.from(known.values(), ({ order }) => order));
  const needsOrder = known.size > 1 && (orders.size > 1 || orders.has("write"));
  return (call) => {
    const { order, subjects } = known.get(call) ?? { subjects: [] };
    if (order === undefined) return TOUCHES_NOTHING; // the call is refused
    if (!needsOrder || !access || subjects.length === 0) return { order };
    return touchedPaths(subjects, access).then(
      (paths) => ({ order, ...defined({ paths }) }),
      () => ({ order }), // the call is refused, unless a call before it changes where its path leads
    );
  };
}

/** The real paths of the subjects; `undefined` if one of them is not a path. */
async function touchedPaths(
  subjects: readonly Subject[],
  { locate }: Pick<TaskAccess, "locate">,
): Promise<TouchedPath[] | undefined> {
  const located = await Promise.all(subjects.map((subject) => locate(subject)));
  const paths = located.flatMap((each) =>
    each.kind === "path" ? [{ path: each.places.at(-1)!, change: each.change }] : [],
  );
  return paths.length === located.length ? paths : undefined;
}
