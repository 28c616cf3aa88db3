import type { AnyInput } from "../../core/plan/input.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Result } from "../../core/run/result.ts";
import { messageOf } from "../../core/schema/error.ts";
import { progressLabel } from "../../core/task/preview.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { unchecked } from "../../modes/compile.ts";
import type { RunOptions } from "../../crew/prepare/run-options.ts";
import { createCrew } from "../../crew.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { excerptOf } from "../../core/outcome/excerpt.ts";
import { shortened } from "../../facades/subagent-task.ts";
import type { Run } from "../../runtime/run/run.ts";

/** How a subagent differs from the agent that its type names. */
export type SubagentConfig = Readonly<{
  allowedTools?: readonly string[];
  defaultModel?: string;
  systemPrompt?: string;
  maxTurns?: number;
  /** The crew that executes the subagent; by default a crew with the user's settings. */
  crew?: Crew;
}>;

/** The result of a task, in the format that gen-code documents for its `Task` tool. */
export type TaskOutput = Readonly<{
  success: boolean;
  result?: string;
  /** The id with which the task can be continued; all commands about runs accept it, too. */
  agentId: string;
  outputFile?: string;
  error?: string;
}>;

/** The prompt with which a task continues when the caller gives no prompt. */
const GO_ON = "Continue where you stopped.";

/** gen-code's class `Subagent`: one agent with its tasks, which are runs of a crew. */
export class Subagent {
  readonly type: string;
  readonly #crew: Crew;
  readonly #config: SubagentConfig;
  #status: "running" | "completed" | "error" = "completed";
  #running: Run | undefined;
  #progress: string[] = [];

  constructor(type: string, { crew, ...config }: SubagentConfig = {}) {
    this.type = type;
    this.#crew = crew ?? createCrew({ config: true });
    this.#config = config;
  }

  /** Runs a task and waits for its end. */
  async run(prompt: string): Promise<TaskOutput> {
    return this.#outputOf(this.#start(this.#inputFor(prompt)));
  }

  /** Starts a task and returns at once; the file contains its output once it has ended. */
  async runInBackground(prompt: string): Promise<{ agentId: string; outputFile: string }> {
    const plan = this.#crew.plan(unchecked(this.#inputFor(prompt)));
    const run = this.#start(plan);
    this.#outputOf(run).catch(() => {}); // the error is also in the task's record
    return {
      agentId: `${run.id}/${plan.output}`,
      outputFile: (await this.#crew.outputFile(run.id, plan.output)) ?? "",
    };
  }

  /** Continues an ended task with its whole conversation. */
  async resume(agentId: string, prompt: string = GO_ON): Promise<TaskOutput> {
    const [run = "", ...path] = agentId.split("/");
    try {
      const { plan, continues } = await this.#crew.continuing({
        run,
        prompt,
        allowFailed: true,
        ...(path.length > 0 && { path: path.join("/") }),
      });
      return await this.#outputOf(this.#start(plan, { continues }));
    } catch (error) {
      return { success: false, agentId, error: `Resume failed: ${messageOf(error)}` };
    }
  }

  /** The status of the last task. */
  getStatus(): "running" | "completed" | "error" {
    return this.#status;
  }

  /** The tool calls that the last task has made so far, one line for each. */
  getProgress(): readonly string[] {
    return this.#progress;
  }

  /** Stops the task that is running. */
  cancel(): void {
    this.#running?.cancel();
  }

  #inputFor(task: string): AnyInput {
    const { allowedTools, defaultModel, systemPrompt, maxTurns } = this.#config;
    return {
      mode: "single",
      agent: this.type,
      task,
      ...(allowedTools && { tools: [...allowedTools] }),
      ...defined({ model: defaultModel, systemPrompt }),
      ...(maxTurns !== undefined && { resourceLimits: { maxTurns } }),
    };
  }

  #start(what: AnyInput | Plan, options: RunOptions = {}): Run {
    this.#status = "running";
    const run = this.#crew.run(unchecked(what), options);
    this.#running = run;
    this.#progress = [];
    this.#follow(run, this.#progress).catch(() => {}); // the caller that awaits the result gets the error
    return run;
  }

  async #follow(run: Run, lines: string[]): Promise<void> {
    for await (const event of run)
      if (event.type === "turn.ended")
        lines.push(...event.calls.map(({ name, input }) => progressLabel(name, isRecord(input) ? input : {})));
  }

  async #outputOf(run: Run): Promise<TaskOutput> {
    const plan = (): string => run.state.plan?.output ?? this.type;
    try {
      const result: Result = await run;
      const ended = result.nodes[plan()];
      const agentId = `${run.id}/${plan()}`;
      const outputFile = ended && (await this.#crew.outputFile(run.id, plan()));
      const outcome = ended && { ...ended, ...defined({ file: outputFile }) };
      const file = defined({ outputFile });
      this.#status = result.status === "ok" ? "completed" : "error";
      if (outcome && result.status === "ok") return { success: true, result: shortened(outcome), agentId, ...file };
      return {
        success: false,
        agentId,
        error: outcome ? excerptOf(outcome) : (result.fault?.message ?? result.status),
        ...file,
      };
    } catch (error) {
      this.#status = "error";
      return { success: false, agentId: `${run.id}/${plan()}`, error: messageOf(error) };
    }
  }
}
