import { cardOf } from "../../core/delegation/catalog.ts";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { ToolResult } from "../../core/task/tool.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { Event } from "../../core/run/event.ts";
import { excerptOf } from "../../core/outcome/excerpt.ts";
import { declaredInputs, promptFromInputs } from "../../facades/agent-inputs.ts";
import {
  type AgentInputs,
  invocationResult,
  invocationText,
  type OutputObject,
  terminateMode,
} from "../../facades/invocation.ts";
import { asId } from "../../modes/names.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";

/** An activity of an agent while it ran, with the interface of Gemini CLI. */
export type SubagentActivityEvent = Readonly<{
  isSubagentActivityEvent: true;
  agentName: string;
  type: "TOOL_CALL_START" | "TOOL_CALL_END" | "THOUGHT_CHUNK" | "ERROR";
  /**
   * The data of an activity: `name` and `args` or `output` of a call, `text` of a thought, `context` and `error` of an
   * error.
   */
  data: Readonly<Record<string, unknown>>;
}>;

/** One invocation of an agent with the interface of Gemini CLI. */
export type SubagentInvocation = Readonly<{
  getDescription(): string;
  /** Runs the agent. While it runs, its reasoning is reported as text, and thoughts, calls and errors as activity. */
  execute(
    signal: AbortSignal,
    updateOutput?: (text: string) => void,
    onActivity?: (event: SubagentActivityEvent) => void,
  ): Promise<Exclude<ToolResult, string> & OutputObject>;
}>;

/** An invocation of a local or remote agent of a crew. */
export function localInvocation(
  crew: Crew,
  { name, inputs }: Readonly<{ name: string; inputs: AgentInputs }>,
): SubagentInvocation {
  return {
    getDescription: () => invocationText(name, inputs),
    execute: async (signal, updateOutput = () => {}, onActivity = () => {}) => {
      const found = (await crew.catalog()).agents.find((one) => one.name === name);
      const card = found ?? cardOf({ name, description: "", instructions: "" });
      updateOutput("Subagent starting...\n");
      const id = asId(name);
      const named = declaredInputs(card, inputs);
      const task = {
        agent: name,
        prompt: promptFromInputs(card, inputs),
        refs: {},
        ...(Object.keys(named).length > 0 && { inputs: named }),
      };
      const run = crew.run({ nodes: { [id]: { kind: "task", task } }, output: id });
      const stop = (): void => run.cancel("stopped by the caller");
      if (signal.aborted) stop();
      const release = onAbort(signal, stop);
      try {
        const activityOf = createActivities(name);
        for await (const event of run) {
          if (event.type === "thinking.delta") updateOutput(`🤖💭 ${event.text}`);
          const activity = activityOf(event);
          if (activity) onActivity(activity);
        }
        const outcome: Outcome = (await run).nodes[id] ?? failed("CRASHED", "The run ended without an outcome.");
        return {
          text: invocationResult(name, outcome, { task: `${run.id}/${id}` }),
          result: excerptOf(outcome),
          error: outcome.status !== "ok",
          terminate_reason: terminateMode(outcome),
        };
      } finally {
        release();
      }
    },
  };
}

/** Translates the events of a run; `undefined` for an event that Gemini CLI does not report. */
function createActivities(agentName: string): (event: Event) => SubagentActivityEvent | undefined {
  const inputs = new Map<string, unknown>();
  const activity = (type: SubagentActivityEvent["type"], data: SubagentActivityEvent["data"]) =>
    ({ isSubagentActivityEvent: true, agentName, type, data }) as const;
  return (event) => {
    switch (event.type) {
      case "turn.ended":
        for (const { id, input } of event.calls) inputs.set(id, input);
        return undefined;
      case "thinking.delta":
        return activity("THOUGHT_CHUNK", { text: event.text });
      case "tool.started":
        return activity("TOOL_CALL_START", { name: event.tool, args: inputs.get(event.call) ?? {} });
      case "tool.ended":
        if (!event.error) return activity("TOOL_CALL_END", { name: event.tool, output: event.text });
        return activity("ERROR", { context: "tool_call", name: event.tool, error: event.text });
      case "tool.denied":
      case "tool.rejected":
        return activity("ERROR", { context: "tool_call", name: event.tool, error: event.text });
      case "node.ended":
        if (event.outcome.status !== "failed") return undefined;
        return activity("ERROR", { context: "agent", error: event.outcome.fault.message });
      default:
        return undefined;
    }
  };
}
