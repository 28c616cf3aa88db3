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
import { type CallReach, TOUCHES_NOTHING, type TouchedPath } from "./turn-order.ts";

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
