import { once } from "node:events";
import { Writable } from "node:stream";
import { resultOf } from "../../core/run/result.ts";
import type { State } from "../../core/run/state.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { appendRegularSync, openAnew } from "../../runtime/disk/regular-file.ts";
import type { Look } from "../../core/view/look.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { githubAnnotations, resultJunit, resultMarkdown } from "../../sinks/result-formats.ts";
import { outputProblem, writeProblem } from "../base/file-problem.ts";
import type { Flags, OutputFormat } from "../base/flags.ts";
import { resultStream, resultText } from "./result-text.ts";
import { checkOutputLinks } from "../base/project-links.ts";

type Durations = Pick<Look, "durations">;

/** Formats that are written after a run has ended. Text and JSON lines are written during the run. */
const AT_END: Readonly<Partial<Record<OutputFormat, (state: State, look: Durations) => string>>> = {
  markdown: resultMarkdown,
  junit: resultJunit,
  json: (state) => `${jsonText(resultOf(state), 2)}\n`,
};

/** Writes the result of a run in one format. */
export type ResultPrinter = Readonly<{
  format: OutputFormat;
  /** The stream for text or JSON lines during the run. */
  out: Writable;
  /** The stream to which everything is written in the end: standard output or a file. */
  target: Writable;
  /** Writes the rest of the output and closes the file. */
  end(state: State): Promise<void>;
}>;

/** Opens the output before the run starts, so that a file that cannot be written is reported at once. */
export async function openResult({ output, json, outputFile }: Flags, look: Durations): Promise<ResultPrinter> {
  if (json && output !== undefined && output !== "stream-json")
    throw new CrewError("BAD_INPUT", `--json and -o ${output} cannot be combined.`, "Give one of them.");
  const format = output ?? (json ? "stream-json" : "text");
  const target: Writable = outputFile === undefined ? process.stdout : await openFile(outputFile);
  const late = AT_END[format];
  return {
    format,
    out: late ? nowhere() : format === "text" && target === process.stdout ? resultStream() : target,
    target,
    end: async (state) => {
      if (late) {
        const text = late(state, look);
        target.write(format === "markdown" && target === process.stdout ? resultText(text) : text);
      }
      if (outputFile !== undefined) await closeFile(target, outputFile);
      tellGitHub(state, look);
    },
  };
}

/** Writes the rest of a file and closes it. */
export async function closeFile(target: Writable, file: string): Promise<void> {
  try {
    if (target.errored) throw target.errored;
    target.end();
    await once(target, "close");
  } catch (error) {
    throw outputProblem(`"${file}"`, error);
  }
}

const nowhere = (): Writable => new Writable({ write: (_, __, done) => done() });

async function openFile(file: string): Promise<Writable> {
  checkOutputLinks(file);
  try {
    return (await openAnew(file)).createWriteStream();
  } catch (error) {
    throw new CrewError(
      "BAD_FILE",
      `"${file}" cannot be written: ${writeProblem(error)}.`,
      "Give another --output-file.",
    );
  }
}

/** In a GitHub Actions job: writes a step summary, and an annotation for each failed task. */
function tellGitHub(state: State, look: Durations): void {
  if (process.env["GITHUB_ACTIONS"] !== "true") return;
  process.stderr.write(githubAnnotations(state));
  const file = process.env["GITHUB_STEP_SUMMARY"];
  if (file === undefined || file === "") return;
  try {
    appendRegularSync(file, `${resultMarkdown(state, look)}\n`);
  } catch (error) {
    process.stderr.write(`warning: the step summary cannot be written: ${messageOf(error)}\n`);
  }
}
