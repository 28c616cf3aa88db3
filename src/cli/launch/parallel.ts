import { CrewError } from "../../core/schema/error.ts";
import { schemaOption } from "../base/flags.ts";
import { assignments } from "./assignment.ts";
import { type ModeCommand, running } from "./mode.ts";

/** The command `subcrew parallel [id@]agent="prompt" ...`. */
export const tasks: ModeCommand = {
  mode: "parallel",
  description: "Runs several tasks in parallel. A failed task does not stop the others.",
  words: "[tasks...]",
  usage: '[ID@]AGENT="PROMPT" ...',
  options: [schemaOption("each answer")],
  examples: [
    ['subcrew parallel explore="Which tests are slow?" explore="Which are skipped?"', "two questions at once"],
    [
      'subcrew parallel a@explore="List the flags." explore="Which of these have no test? {task:a}"',
      "only the task that refers to another waits for it",
    ],
    ["subcrew parallel --input tasks.yaml --concurrency 4", "from a file"],
  ],
  notes: `Tasks:
  [ID@]AGENT="PROMPT"   AGENT=- reads the prompt from standard input
  {task:ID}, {task_0}   in a prompt: the output of that task`,
  input: async (words) => (words.length === 0 ? undefined : { mode: "parallel", tasks: await assignments(words) }),
  missing: new CrewError(
    "BAD_INPUT",
    "No task was given.",
    'Give at least one task, as in `subcrew parallel explore="..." explore="..."`, or --input.',
  ),
};

export const parallelCommand = running(tasks);
