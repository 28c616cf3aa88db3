import type { Caller } from "../core/delegation/spawn.ts";
import type { Tool } from "../core/task/tool.ts";
import type { ProjectRuns } from "../runtime/resume/project-runs.ts";

/**
 * One set of delegation tools with the names and parameters of one other program. It converts a call to a plan for the
 * run, and the outcome to a text. A new set is one file and one row in `table.ts`.
 *
 * `delegationTools(["Task"], caller)` of `table.ts` makes the tools, with descriptions from `caller.catalog`. Each is
 * an ordinary `Tool`; its runtime dependencies (starting agents, discovering them again, background tasks) come with
 * the `ToolContext`. Inside a run the executor makes the tools and the context for every agent whose file lists a
 * delegation tool.
 *
 * An interface outside of runs (MCP) uses `openDelegation(crew, { as: ["Task"] })` of `src/doors/delegation.ts`: it
 * offers the result of `tools()`, and `call(name, input, { signal, heard })` starts runs of the crew. An interface with
 * a main agent (a chat) gives that agent `tools: ["*", "Task"]`, and its runs `outliving: {}`, so that background tasks
 * continue between two messages.
 */
export type Facade = Readonly<{
  /** The delegation tools for one caller; `name` is the name under which the caller lists the first of them. */
  tools(caller: Caller, name: string, parts: FacadeParts): readonly Tool[];
}>;

/** The parts of the crew that delegation tools use. */
export type FacadeParts = Readonly<{
  clock(): number;
  /** The runs of the project; absent: this crew stores no runs. */
  history?: ProjectRuns;
  /** True: results and started tasks of \`Task\` are shown with a box, as in gen-code. */
  box?: boolean;
}>;

/** Timeout of delegation tools: none, since the started agents have their own time limits. */
export const AS_LONG_AS_IT_TAKES = 2 ** 31 - 1;

/**
 * The properties that all delegation tools share. A call may be repeated after a crash, because the work of the started
 * agents is recorded.
 */
export const delegating = { effect: "read", does: "spawn", timeoutMs: AS_LONG_AS_IT_TAKES } as const;
