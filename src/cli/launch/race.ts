import { CrewError } from "../../core/schema/error.ts";
import { acceptSchemaOption, agentsOption, modelsOption, schemaOption } from "../base/flags.ts";
import { acceptCommandOption } from "../base/permission-flags.ts";
import { type ModeCommand, readPrompt, running } from "./mode.ts";

/** The command `subcrew race --agents a,b "prompt"`. */
export const contest: ModeCommand = {
  mode: "race",
  description: "Gives the same task to several agents or models. The first good answer wins, the others are stopped.",
  words: "[prompt...]",
  usage: '--agents A,B "PROMPT"',
  options: [agentsOption(), modelsOption(), acceptSchemaOption(), acceptCommandOption(), schemaOption("each answer")],
  examples: [
    ['subcrew race --agents explore,general "Where is the entry point?"', "two agents"],
    ['subcrew race --agents explore --models fast,balanced "..."', "each agent on each model"],
    ['subcrew race --agents explore,general --accept-schema answer.json "..."', "only a valid answer wins"],
  ],
  input: async (words, { agents, models }) => {
    const prompt = await readPrompt(words);
    if (prompt.trim() === "" && agents === undefined && models === undefined) return undefined;
    if (agents === undefined && models === undefined) {
      throw new CrewError(
        "BAD_INPUT",
        "Name at least two agents or models to race.",
        "Name agents with --agents a,b, or models with --models m,n.",
      );
    }
    if (prompt.trim() === "")
      throw new CrewError(
        "BAD_INPUT",
        "The prompt is missing.",
        "Give the prompt after the flags, or - to read it from standard input.",
      );
    return { mode: "race", race: { task: prompt } }; // the agents or models of the race are given by flags
  },
  missing: new CrewError(
    "BAD_INPUT",
    "No task was given.",
    'Give the contenders and a prompt, as in `subcrew race --agents explore,general "..."`, or --input.',
  ),
};

export const raceCommand = running(contest);
