import { explain } from "../../core/outcome/outcome.ts";
import type { State } from "../../core/run/state.ts";
import type { Run } from "../../runtime/run/run.ts";
import type { Look } from "../../core/view/look.ts";
import { outputOfRun } from "../../sinks/output.ts";
import { createTextSink } from "../../sinks/text.ts";
import { counted, listed, spentInAll, terminalLine, took } from "../../core/view/words.ts";
import type { Flags } from "../base/flags.ts";
import type { Terminal } from "../base/terminal.ts";
import { answerGates, answering } from "../terminal/gates.ts";
import { boxesOn } from "../terminal/helper-boxes.ts";
import { resultText } from "../terminal/result-text.ts";
import { openTerminal } from "../watch/watch-run.ts";

/**
 * Shows the progress of one message until it is answered: boxes for its agents, then the answer. The first Ctrl-C stops
 * the agents in the boxes, the second Ctrl-C the answer, and the third exits.
 */
export async function watch(
  run: Run,
  { quiet = false }: Pick<Flags, "quiet">,
  { look, attended }: Terminal,
): Promise<void> {
  const since = Date.now();
  const { stdout: out, stderr: err } = process;
  const text = createTextSink({ out, err, look, quiet, since, tell: boxesOn(look) });
  const interrupt = interrupting(run, text.say);
  const { keys, person } = openTerminal(text, { attended, interrupt });
  process.on("SIGINT", interrupt);
  keys?.start();
  try {
    await Promise.all([
      text.follow(run),
      attended ? answerGates(run, person, answering(run, since, text.say)) : undefined,
    ]);
  } finally {
    keys?.stop();
    process.off("SIGINT", interrupt);
  }
  show(run.state, look, quiet);
}

/** Handles Ctrl-C: stops the agents, then the answer, then exits. */
function interrupting(run: Run, hint: (text: string) => void): () => void {
  let stopped: "nothing" | "agents" | "answer" = "nothing";
  return () => {
    if (stopped === "answer") process.exit(130);
    const below = stopped === "nothing" ? runningBelow(run.state) : [];
    stopped = below.length > 0 ? "agents" : "answer";
    for (const path of below) run.cancelTask(path, "stopped with Ctrl-C");
    if (below.length > 0) return hint(`stopped ${counted(below.length, "agent")}; Ctrl-C again stops the answer`);
    run.cancel("stopped with Ctrl-C");
    hint("stopping; press Ctrl-C again to exit");
  };
}

/** The running agents that the main agent started. Agents below them end together with them. */
function runningBelow({ nodes }: State): string[] {
  return [...nodes.values()]
    .filter(({ path, kind, status }) => kind === "task" && status === "running" && path.split("/").length === 2)
    .map(({ path }) => path);
}

/** Prints the answer, or the reason why there is none, and one line with time and cost. */
function show(state: State, look: Look, quiet: boolean): void {
  const { colors } = look;
  const outcome = state.outcome ?? { status: "cancelled", reason: "the run has not ended" };
  const output = outputOfRun(state);
  if (output !== "") process.stdout.write(`${process.stdout.isTTY && !quiet ? "\n" : ""}${resultText(output)}`);
  if (outcome.status !== "ok") {
    const hint =
      outcome.status === "failed" && outcome.fault.hint !== undefined ? ` ${terminalLine(outcome.fault.hint)}` : "";
    process.stderr.write(
      `${colors[outcome.status === "failed" ? "red" : "yellow"](outcome.status)}  ${terminalLine(explain(outcome))}${hint}\n`,
    );
  }
  if (quiet) return;
  const ms = Math.max(0, (state.endedAt ?? state.startedAt) - state.startedAt);
  const agents = [...state.nodes.values()].filter(({ path, kind }) => kind === "task" && path.includes("/")).length;
  process.stderr.write(
    `${colors.dim(listed([took(ms, look), agents > 0 ? counted(agents, "agent") : "", ...spentInAll(state.usage, state.cost), state.run], look))}\n`,
  );
}
