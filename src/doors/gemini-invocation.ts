import { cardOf } from "../core/delegation/catalog.ts";
import { failed, type Outcome } from "../core/outcome/outcome.ts";
import type { ToolResult } from "../core/task/tool.ts";
import type { Crew } from "../crew.ts";
import { declaredInputs, promptFromInputs } from "../facades/agent-inputs.ts";
import { type AgentTerminateMode, invocationResult, invocationText, terminateMode } from "../facades/invocation.ts";
import { asId } from "../modes/names.ts";
import { onAbort } from "../runtime/async/on-abort.ts";

/** One invocation of an agent with the interface of Gemini CLI. */
export type SubagentInvocation = Readonly<{
  getDescription(): string;
  /** Runs the agent; its reasoning is reported while it runs. */
  execute(
    signal: AbortSignal,
    updateOutput?: (text: string) => void,
  ): Promise<Exclude<ToolResult, string> & Readonly<{ terminate_reason: AgentTerminateMode }>>;
}>;

/** An invocation of a local or remote agent of a crew. */
export function localInvocation(
  crew: Crew,
  { name, inputs }: Readonly<{ name: string; inputs: Readonly<Record<string, unknown>> }>,
): SubagentInvocation {
  return {
    getDescription: () => invocationText(name, inputs),
    execute: async (signal, updateOutput = () => {}) => {
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
        for await (const event of run) if (event.type === "thinking.delta") updateOutput(`🤖💭 ${event.text}`);
        const outcome: Outcome = (await run).nodes[id] ?? failed("CRASHED", "The run ended without an outcome.");
        return {
          text: invocationResult(name, outcome),
          error: outcome.status !== "ok",
          terminate_reason: terminateMode(outcome),
        };
      } finally {
        release();
      }
    },
  };
}
