/** The verdict of the policy on a tool call. */
export type Verdict = Readonly<{
  decision: "allow" | "ask" | "deny";
  /** The rule that decided: a rule that the user wrote, the permission mode, or a built-in rule. */
  rule: string;
  /** The reason, as a clause that completes a sentence; may be empty. */
  why: string;
  /** What the user can do to change the verdict. */
  hint: string;
  /** A rule that answers this question, in the form in which it is written. */
  allow?: string;
  /** True: a person has to answer, not `--yes`: an agent file asks, or the line mentions what a deny rule names. */
  inPerson?: true;
}>;

const order: readonly Verdict["decision"][] = ["allow", "ask", "deny"];

/**
 * The strictest of several verdicts; of several equally strict verdicts, the first. An approval that a
 * person has to give stays marked.
 */
export function strictest(first: Verdict, ...more: readonly Verdict[]): Verdict {
  const found = more.reduce(
    (before, next) => (order.indexOf(next.decision) > order.indexOf(before.decision) ? next : before),
    first,
  );
  return found.decision === "ask" && more.some(({ inPerson }) => inPerson) ? { ...found, inPerson: true } : found;
}
