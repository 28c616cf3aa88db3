import { CrewError } from "../../core/schema/error.ts";
import { schemaOption } from "../base/flags.ts";
import { imageOption } from "../base/images.ts";
import { promptImages, readPrompt, running } from "../launch/mode.ts";
import { MAIN_AGENT, mainAgentOption } from "./main-agent.ts";

/** The command `subcrew ask "..."`. */
export const askCommand = running({
  mode: "single",
  boxes: true,
  description:
    "Asks the main agent one question; the main agent delegates to the other agents and answers. Like `subcrew chat`, without a conversation.",
  words: "[question...]",
  usage: '"QUESTION"',
  options: [mainAgentOption(), imageOption(), schemaOption("the answer")],
  examples: [
    [
      'subcrew ask "Where are errors turned into exit codes, and which tests cover that?"',
      "one question; the main agent starts other agents as needed",
    ],
    ["git diff | subcrew ask -", "read the question from standard input"],
  ],
  input: async (words, { agent = MAIN_AGENT, image, cwd }) => {
    if (words.length === 0) return undefined;
    const task = await readPrompt(words);
    return task.trim() === ""
      ? undefined
      : { mode: "single", agent, task, ...(await promptImages(words, { image, cwd })) };
  },
  missing: new CrewError("BAD_INPUT", "No question given.", 'Give a question, as in `subcrew ask "..."`.'),
});
