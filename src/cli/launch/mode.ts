import { Option } from "commander";
import type { AnyInput } from "../../core/plan/input.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import type { Mode } from "../../modes/compile.ts";
import type { CliCommand } from "../base/command.ts";
import { type Flags, inputOption, runOptions } from "../base/flags.ts";

/** A mode as a command: its arguments and flags, and the input that they describe. */
export type ModeCommand = Readonly<{
  /** The mode that an input file must have; absent: any mode. */
  mode?: Mode;
  description: string;
  words?: string;
  usage?: string;
  options: readonly Option[];
  examples: CliCommand["examples"];
  notes?: string;
  /** True when the agents that the main agent starts are shown in boxes. */
  boxes?: boolean;
  /** Builds the input from the command line; `undefined` when the command line has no input. */
  input(words: readonly string[], flags: Flags): Promise<AnyInput | undefined>;
  /** The error when neither the command line nor a file gives an input. */
  missing: CrewError;
}>;

/** Handles an input after the flags were added to it. */
type Use = (input: AnyInput, flags: Flags) => Promise<number>;

/** Creates the command-line command that runs a mode. */
export function running({ boxes = false, ...command }: ModeCommand): CliCommand {
  return definition(command, async (input, flags) => (await import("./start.ts")).start(input, flags, { boxes }));
}

/**
 * The subcommand of `plan` that prints the plan of a mode instead of running it. Help hides the flags that only a run
 * needs.
 */
export function printing(command: ModeCommand): CliCommand {
  const examples = command.examples.map(([line, what]) => [line.replace("subcrew ", "subcrew plan "), what] as const);
  const { options, ...rest } = definition({ ...command, examples }, async (input, flags) =>
    (await import("./print-plan.ts")).printPlan(input, flags),
  );
  return {
    ...rest,
    options: [
      ...options.map((option) => (onlyForRuns.has(option.long ?? "") ? option.hideHelp() : option)),
      new Option("--mermaid", "print a Mermaid flowchart").helpGroup("Work:"),
    ],
  };
}

const onlyForRuns: ReadonlySet<string> = new Set([
  "--output",
  "--output-file",
  "--deltas",
  "--yes",
  "--trust",
  "--reuse",
  "--bg",
  "--unattended",
  "--answer-timeout",
  "--priority",
  "--placement-timeout",
]);

function definition({ input, missing, mode, ...command }: ModeCommand, use: Use): CliCommand {
  return {
    ...command,
    options: [inputOption(), ...command.options, ...runOptions()],
    act: async (words, typed) => {
      const schema = typed.schema ?? typed.outputSchema;
      const flags = {
        ...typed,
        ...defined({ schema }),
        ...(typed.fork === undefined ? {} : await forkOf(typed.fork)),
      };
      if (flags.input !== undefined && (words.length > 0 || flags.plan !== undefined)) throw twice;
      const { readInput } = await import("./read-input.ts");
      const { withFlags } = await import("./with-flags.ts");
      const given = flags.input === undefined ? await input(words, flags) : await readInput(flags.input, mode);
      if (!given) throw missing;
      return use(await withFlags(given, flags), flags);
    },
  };
}

/** The task given with --fork, as `run/path`, and its agent. */
async function forkOf(word: string): Promise<Pick<Flags, "fork" | "forkAgent">> {
  const [{ openOwnStore }, { readRecordedRun }, { taskOfRun }, { runNamed }] = await Promise.all([
    import("./start.ts"),
    import("../../runtime/resume/recorded-run.ts"),
    import("../../runtime/resume/continue-task.ts"),
    import("../../runtime/store/run-id.ts"),
  ]);
  const store = openOwnStore();
  const [name = "", ...path] = word.split("/");
  const { id, state } = await readRecordedRun(store, await runNamed(store, name));
  const { path: task, agent } = taskOfRun(state, path.length > 0 ? path.join("/") : undefined);
  return { fork: `${id}/${task}`, ...defined({ forkAgent: agent }) };
}

const twice = new CrewError(
  "BAD_INPUT",
  "The input is given twice: with --input and on the command line.",
  "Use one of them.",
);

/**
 * The images of a prompt: the images of --image, and the images in the working folder that the arguments mention.
 * Standard input is not searched for mentions.
 */
export async function promptImages(
  words: readonly string[],
  { image, cwd = process.cwd() }: Readonly<{ image: Flags["image"] | undefined; cwd: string | undefined }>,
): Promise<Readonly<{ images?: readonly unknown[] }>> {
  const { imagesFor, refusedImagesText } = await import("../base/images.ts");
  const { images, refused } = await imagesFor(words.join(" "), { files: image, cwd, origin: "arguments" });
  const note = refusedImagesText(refused);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  return images.length === 0 ? {} : { images };
}

/** The prompt from the arguments; `-` reads standard input. */
export async function readPrompt(words: readonly string[]): Promise<string> {
  const text = words.join(" ");
  if (text !== "-") return text;
  const { readText } = await import("./read-input.ts");
  return readText("-");
}
