import { CrewError } from "../../core/schema/error.ts";
import { schemaOption } from "../base/flags.ts";
import { assignments } from "./assignment.ts";
import { type ModeCommand, running } from "./mode.ts";

/** The command `subcrew chain agent="prompt" ...`. */
export const steps: ModeCommand = {
  mode: "chain",
  description: "Runs tasks one after the other. A failed step ends the chain; the results so far are shown.",
  words: "[steps...]",
  usage: '[ID@]AGENT="PROMPT" ...',
  options: [schemaOption("the last answer")],
  examples: [
    ['subcrew chain explore="List the entry points." explore="Explain the first of these: {previous}"', "two steps"],
    [
      'subcrew chain a@explore="..." explore="..." explore="Compare {task:a} with {previous}."',
      "refer to an earlier step by its name",
    ],
    ["subcrew chain --input steps.yaml", "from a file"],
  ],
  notes: `Steps:
  [ID@]AGENT="PROMPT"   AGENT=- reads the prompt from standard input
  {previous}, {task:ID}  in a prompt: the output of the step before, or of that step`,
  input: async (words) => (words.length === 0 ? undefined : { mode: "chain", chain: await assignments(words) }),
  missing: new CrewError(
    "BAD_INPUT",
    "The chain has no steps.",
    'Give at least one step, as in `subcrew chain explore="..." explore="... {previous}"`, or --input.',
  ),
};

export const chainCommand = running(steps);
