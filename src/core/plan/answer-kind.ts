import type { Answer } from "./gate.ts";

/** The kind of answer a question needs: words, yes or no, or a permission, which may hold for more than one call. */
export type AnswerKind = "words" | "approval" | "permission";

/**
 * The kind of a question. If the question does not state it: permission for a question about a call, approval for a
 * gate.
 */
export function answerKind({
  call,
  wants,
}: Readonly<{ call?: string | undefined; wants?: "words" | undefined }>): AnswerKind {
  return wants ?? (call === undefined ? "approval" : "permission");
}

/** Why an answer does not fit a question; `undefined` where it does. */
export function misfit(
  kind: AnswerKind,
  { approve, text = "", always, rule, network }: Answer,
  offersNetwork?: boolean,
): string | undefined {
  const words = text.trim() !== "";
  if (network && (!approve || !offersNetwork))
    return approve ? "This question does not offer the network." : "A call that is denied has no use for the network.";
  switch (kind) {
    case "words":
      if (always || rule !== undefined) return "This question asks for words; only a permission can hold for longer.";
      return approve && !words ? "This question asks for words. Answer it in words." : undefined;
    case "approval":
      return always || rule !== undefined
        ? "This is an approval, which is given once; only a permission can hold for longer."
        : undefined;
    case "permission":
      if (!approve && (always || rule !== undefined)) return "Only a permission that is given can hold for longer.";
      return approve && words
        ? "This question asks for a permission, and words are not one. Allow it, or deny it with words about what to do instead."
        : undefined;
  }
}
