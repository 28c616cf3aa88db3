import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { readPrompt } from "./mode.ts";

/** One argument of `parallel` and `chain`: the agent, its prompt, and the id of the task. */
export type NamedTask = Readonly<{ name?: string; agent: string; task: string }>;

/** Parses `[id@]agent="prompt"`; the shell has removed the quotes. */
export async function assignments(words: readonly string[]): Promise<NamedTask[]> {
  const all: NamedTask[] = [];
  for (const word of words) all.push(await assigned(word));
  return all;
}

const NAME = String.raw`[^\s=@](?:[^=@\n]*[^\s=@])?`;
const ASSIGNED = new RegExp(`^(?:(${NAME})@)?(${NAME})=(.*)$`, "s");

async function assigned(word: string): Promise<NamedTask> {
  const [, name, agent, text] = ASSIGNED.exec(word) ?? [];
  if (agent === undefined || text === undefined) {
    throw new CrewError(
      "BAD_INPUT",
      `"${shortened(word)}" does not name an agent.`,
      'Write agent="prompt", as in explore="Where is the entry point?".',
    );
  }
  const task = await readPrompt([text]);
  if (task.trim() === "")
    throw new CrewError(
      "BAD_INPUT",
      `The prompt for "${agent}" is empty.`,
      `Write ${agent}="prompt", or ${agent}=- to read the prompt from standard input.`,
    );
  return { ...defined({ name }), agent, task };
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
