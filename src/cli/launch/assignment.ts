import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { readPrompt } from "./mode.ts";

/** One word of `parallel` and `chain`: who is asked what, and under which name. */
export type NamedTask = Readonly<{ name?: string; agent: string; task: string }>;

/** Reads `[id@]agent="prompt"`; the shell has taken the quotes away. */
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
      `Write ${agent}="prompt", or ${agent}=- to read it from standard input.`,
    );
  return { ...defined({ name }), agent, task };
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
