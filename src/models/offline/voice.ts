/** The first sentence of the offline model's answers, by which it also recognises its own answers in a prompt. */
export const INTRODUCTION =
  "This is the offline model: a fixed search without any reasoning. It quotes places; you decide what they mean.";

export const ADVICE =
  "For an answer with reasoning, set the key of a provider (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...) " +
  "or name a model with --model.";

export const SEARCHED = "Searched for:";

export const VERDICT =
  "The offline model cannot review work. It approves this so that the plan continues; let a model or a person review the work.\n\nAPPROVED";

/** Removes the sentences that the offline model writes about itself at the beginning and the end of an answer. */
export function withoutVoice(text: string): string {
  return text.replaceAll(INTRODUCTION, "\n\n").replaceAll(ADVICE, "\n\n");
}

/** Whether a passage only contains sentences that the offline model writes about itself. */
export function isOwnVoice(text: string): boolean {
  return [INTRODUCTION, ADVICE, SEARCHED].some((sentence) => text.trimStart().startsWith(sentence));
}
