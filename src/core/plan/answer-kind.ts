import type { Answer } from "./gate.ts";

/**
 * The kind of answer a question needs: words, yes or no, or a permission, which may hold for more than one tool call.
 */
export type AnswerKind = "words" | "approval" | "permission";

/**
 * The kind of a question. If the question does not state it: permission for a question about a tool call, approval for
 * a gate.
 */
export function answerKind({
  call,
  wants,
}: Readonly<{ call?: string | undefined; wants?: "words" | undefined }>): AnswerKind {
  return wants ?? (call === undefined ? "approval" : "permission");
}

/** Why an answer does not fit a question; `undefined` if it fits. */
export function misfit(
  kind: AnswerKind,
  { approve, text = "", always, rule, network }: Answer,
  offersNetwork?: boolean,
): string | undefined {
  const words = text.trim() !== "";
  if (network && (!approve || !offersNetwork))
    return approve ? "This question does not offer network access." : "A denied call cannot get network access.";
  switch (kind) {
    case "words":
      if (always || rule !== undefined)
        return "This question asks for an answer in words. Only a permission can be remembered.";
      return approve && !words ? "This question asks for an answer in words. Write an answer." : undefined;
    case "approval":
      return always || rule !== undefined
        ? "An approval is valid once. Only a permission can be remembered."
        : undefined;
    case "permission":
      if (!approve && (always || rule !== undefined)) return "A denial cannot be remembered. Only a permission can.";
      return approve && words
        ? "This question asks for a permission, not for words. Allow it, or deny it and say what to do instead."
        : undefined;
  }
}
