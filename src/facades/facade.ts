import type { Caller } from "../core/delegation/spawn.ts";
import type { Tool } from "../core/task/tool.ts";
import type { ProjectRuns } from "../runtime/resume/project-runs.ts";

/**
 * One way to ask for other agents, as one system spells it: parameters in, a plan to the run, a text back. A new one is
 * one file and one row in `table.ts`.
 *
 * How a surface gets such tools: `delegationTools(["Task"], caller)` of `table.ts` makes them, with descriptions from
 * `caller.catalog`. Each is an ordinary `Tool`; what it needs while it runs (starting agents, looking for them again, the
 * background) comes with the `ToolContext`. Inside of a run the executor makes both for every agent whose file lists a
 * delegation tool. A surface that stands outside of runs (MCP) takes `openDelegation(crew, { as: ["Task"] })` of
 * `src/doors/delegation.ts`: its `tools()` are what it offers, its `call(name, input, { signal, heard })` starts runs of the
 * crew. A surface whose main agent is an agent (a chat) gives that agent `tools: ["*", "Task"]`, and its runs
 * `outliving: {}`, so that what it starts in the background goes on between two messages.
 */
export type Facade = Readonly<{
  /** The delegation tools for one caller; `name` is the name under which the caller lists the first of them. */
  tools(caller: Caller, name: string, parts: FacadeParts): readonly Tool[];
}>;

/** What the crew hands to delegation tools, once. */
export type FacadeParts = Readonly<{
  clock(): number;
  /** Absent: this crew keeps no runs. */
  history?: ProjectRuns;
}>;

/** A delegation waits as long as the agents below it work, and those have clocks of their own. */
export const AS_LONG_AS_IT_TAKES = 2 ** 31 - 1;

/** What every delegation tool has in common. It may be asked again after a crash: what was done below it is recorded. */
export const delegating = { effect: "read", does: "spawn", timeoutMs: AS_LONG_AS_IT_TAKES } as const;
