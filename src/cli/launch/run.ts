import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { planOption, schemaOption } from "../base/flags.ts";
import { imageOption } from "../base/images.ts";
import { type ModeCommand, promptImages, readPrompt, running } from "./mode.ts";

/** `subcrew run AGENT "prompt"`, or an input file. */
export const runCommand: ModeCommand = {
  description: "Runs one agent on one task, or an input or plan from a file.",
  words: "[agent] [prompt...]",
  usage: 'AGENT "PROMPT"',
  options: [planOption(), imageOption(), schemaOption("the answer")],
  examples: [
    ['subcrew run explore "Where are errors turned into exit codes?"', "ask one agent"],
    ["git diff | subcrew run explore -", "read the prompt from standard input"],
    ["subcrew run --plan plan.json", "run a plan"],
    [
      'subcrew run --fork run_4k2x "Which of these is the riskiest?"',
      "continue from the conversation of an earlier task",
    ],
    ["subcrew run --input work.yaml --concurrency 4", "run an input of any mode"],
  ],
  notes: `Models:
  offline         needs no key and no network: it searches, reads and quotes, and does not reason
  scripted:FILE   for tests of your own agents: plays the turns of a JSON file, as in ["hello"] or
                  [{"text": "...", "calls": [{"name": "list_files", "input": {}}], "delayMs": 100}]`,
  input: async ([agent, ...words], { plan, fork, forkAgent, image, cwd }) => {
    if (plan !== undefined) {
      if (image !== undefined)
        throw new CrewError(
          "BAD_INPUT",
          "--image cannot be combined with --plan.",
          "List the images under `images` of a task of the plan, or run one agent.",
        );
      if (agent !== undefined)
        throw new CrewError(
          "BAD_INPUT",
          "--plan cannot be combined with an agent or a prompt.",
          "Remove the arguments after --plan FILE; the plan names its own agents and prompts.",
        );
      return { mode: "plan", plan: await (await import("./read-input.ts")).readData(plan) };
    }
    if (agent === undefined) return undefined;
    if (fork !== undefined && words.length === 0)
      return {
        mode: "single",
        ...defined({ agent: forkAgent }),
        task: await readPrompt([agent]),
        ...(await promptImages([agent], { image, cwd })),
      };
    const prompt = await readPrompt(words);
    if (prompt.trim() === "") throw noPrompt(agent);
    return { mode: "single", agent, task: prompt, ...(await promptImages(words, { image, cwd })) };
  },
  missing: new CrewError(
    "BAD_INPUT",
    "No agent, input or plan given.",
    'Give an agent and a prompt, as in `subcrew run explore "..."`, or --input or --plan.',
  ),
};

export const run = running(runCommand);

function noPrompt(agent: string): CrewError {
  const hint = /\s/.test(agent)
    ? 'An agent comes before the prompt, as in `subcrew run explore "..."`.'
    : `Give the prompt after the agent, as in \`subcrew run ${agent} "..."\`, or - to read the prompt from standard input.`;
  return new CrewError("BAD_INPUT", "The prompt is missing.", hint);
}
