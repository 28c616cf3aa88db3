import { failed } from "../core/outcome/outcome.ts";
import type { Event } from "../core/run/event.ts";
import { readDelegation } from "../core/task/read-delegation.ts";
import { emptyScratchpad } from "../core/task/scratchpad.ts";
import type { AnyInput } from "../core/plan/input.ts";
import type { Plan } from "../core/plan/plan.ts";
import { CrewError, isCrewError } from "../core/schema/error.ts";
import type { Tool, ToolContext, ToolResult } from "../core/task/tool.ts";
import { parseArguments } from "../core/task/parse-arguments.ts";
import { inputSchemaOf } from "../core/task/tool-specs.ts";
import { defined } from "../core/text/defined.ts";
import type { JsonSchema } from "../core/text/json.ts";
import { unchecked } from "../modes/compile.ts";
import type { RunOptions } from "../crew/prepare/run-options.ts";
import type { Crew } from "../crew/crew-type.ts";
import { clientPlanRefusal } from "../runtime/access/client-plan.ts";
import { onAbort } from "../runtime/async/on-abort.ts";
import { createDetachedHelpers, delegatedOf } from "../runtime/run/detached-helpers.ts";
import type { Run } from "../runtime/run/run.ts";

/** Options of delegation tools for a caller that is not a task of a run. */
export type DelegationOptions = Readonly<{
  /**
   * Under which names the tools are offered: `Task`, `task`, `spawn_subagent`, `parallel`, `delegate_to_agent`,
   * `invoke_agent`, `agents`.
   */
  as: readonly string[];
  run?: RunOptions;
  /** How many characters all results of one call have together; longer results are cut in the middle. */
  resultChars?: number;
}>;

/** The event listener and the abort signal of one call. */
export type DelegationCall = Readonly<{
  signal: AbortSignal;
  /** Called with every event of the runs that the call waits for. */
  heard?(event: Event, run: Run): void;
}>;

/** A delegation tool as its caller sees it. */
export type DelegationTool = Readonly<{
  name: string;
  description: string;
  input: JsonSchema;
  /** True: the tool changes nothing: it only shows something, or its agent is read-only. */
  readOnly: boolean;
}>;

/** Delegation tools for an interface such as an MCP server: each call starts runs of the crew. */
export type OpenedDelegation = Readonly<{
  /** The tools, with descriptions of the currently available agents. */
  tools(): Promise<readonly DelegationTool[]>;
  call(name: string, input: unknown, call: DelegationCall): Promise<Exclude<ToolResult, string>>;
}>;

/** Opens delegation tools on a crew for one session: background tasks end with the session. */
export function openDelegation(crew: Crew, { as, run, resultChars }: DelegationOptions): OpenedDelegation {
  const options: RunOptions = { modelsGiveWay: true, ...run };
  let made: Promise<readonly Tool[]> | undefined;
  const tools = (): Promise<readonly Tool[]> => (made ??= crew.delegationTools(as, { waits: true }));
  const bounded = (what: AnyInput | Plan): Plan => {
    const plan = crew.plan(unchecked(what));
    const refusal = clientPlanRefusal(plan, crew.cwd);
    if (refusal) throw new CrewError("BAD_INPUT", refusal.message, refusal.hint);
    return plan;
  };
  const background = createDetachedHelpers({
    plan: bounded,
    run: (plan) => crew.run(plan, options),
    file: crew.outputFile,
  });
  const contextFor = ({ signal, heard }: DelegationCall): ToolContext => ({
    cwd: crew.cwd,
    signal,
    env: {},
    run: "",
    path: "",
    agent: "subcrew",
    desk: emptyScratchpad(),
    report: () => {},
    notify: () => {},
    agents: crew.catalog,
    ...defined({ resultChars }),
    background: {
      ...background,
      silent: true,
      start: (what, tells) => background.start(what, { spawns: "*", ceiling: [], model: "" }, tells),
    },
    delegate: async (what) => {
      if (signal.aborted) return failed("DENIED", "The task was cancelled before it started.");
      bounded(what);
      const run = crew.run(unchecked(what), options);
      const release = onAbort(signal, () => run.cancel("stopped by the caller"));
      try {
        for await (const event of run) heard?.(event, run);
        return await readDelegation(delegatedOf(await run), (path) => crew.outputFile(run.id, path));
      } finally {
        release();
      }
    },
  });
  return {
    tools: async () => {
      const { agents } = await crew.catalog();
      const looking = new Set(
        as.includes("agents") ? agents.filter((card) => card.readOnly).map(({ name }) => name) : [],
      );
      return (await tools()).map((tool) => ({
        name: tool.name,
        description: tool.description,
        input: inputSchemaOf(tool),
        readOnly: tool.does === "spawn" ? looking.has(tool.name) : tool.effect === "read",
      }));
    },
    call: async (name, input, call) => {
      const tool = (await tools()).find((one) => one.name === name);
      if (!tool) return { text: `Unknown tool "${name}".`, error: true };
      const parsed = parseArguments(tool, input);
      if ("problem" in parsed)
        return { text: `The arguments of ${name} are not valid: ${parsed.problem}.`, error: true };
      try {
        const result = await tool.run(parsed.value, contextFor(call));
        return typeof result === "string" ? { text: result } : result;
      } catch (error) {
        if (!isCrewError(error)) throw error;
        return { text: `${error.code}: ${error.message} ${error.hint}`.trimEnd(), error: true };
      }
    },
  };
}
