import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { isRecord } from "../../core/text/json.ts";

const input = z.strictObject({
  question: z.string().trim().min(1).max(2_000).describe("one question, with the information needed to answer it"),
  options: z
    .array(z.string().trim().min(1).max(300))
    .min(2)
    .max(9)
    .optional()
    .describe("answers to choose from; a different answer may be given"),
});

/** The only question of a list, as other programs send it: `options` are objects with a `label`. */
function onlyOne(questions: unknown): Readonly<Record<string, unknown>> {
  const [only, ...more] = Array.isArray(questions) ? (questions as readonly unknown[]) : [];
  if (!isRecord(only) || more.length > 0) return { questions };
  const { question, options } = only;
  if (!Array.isArray(options) || options.length === 0) return { question };
  return { question, options: options.map((each: unknown) => (isRecord(each) ? each["label"] : each)) };
}

/** Asks the person a question and waits for the answer. */
export const ask = defineTool({
  name: "ask",
  description:
    "Asks the person a question and waits for the answer. Ask only what you cannot find out and must not decide yourself; it is possible that no person is available to answer.",
  input,
  aliases: { questions: onlyOne, choices: "options" },
  effect: "read",
  does: "none",
  timeoutMs: 30 * 60_000,
  async run({ question, options: given = [] }, context) {
    // Each option is one line, so that its text cannot look like another option.
    const options = given.map((option) => option.replace(/[\s\p{Cc}]+/gu, " "));
    const choices = options.map((option, index) => `${index + 1}. ${option}`);
    const answer = await context.ask?.([question, ...choices].join("\n"), { wants: "words" });
    if (!answer)
      return {
        text: "Nobody is available to answer. Decide yourself, and state your assumptions in the result.",
        error: true,
      };
    const words = answer.text?.trim() ?? "";
    const chosen = /^[1-9]$/.test(words) ? options[Number(words) - 1] : undefined;
    return `Answer: ${chosen ?? (words || (answer.approve ? "yes" : "no"))}`;
  },
});
