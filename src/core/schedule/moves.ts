/** For each state of a run: the number that `movesOf` returns. */
const counts = new WeakMap<object, number>();

/**
 * How many events of a run may have moved one of its nodes to another group of a list, renamed, added or removed it. A
 * list that was made when this number was the same is still correct.
 */
export const movesOf = (state: object): number => counts.get(state) ?? 0;

/** Counts an event that may have moved a node in a list. */
export const countMove = (state: object): void => void counts.set(state, movesOf(state) + 1);

/**
 * True for an event after which a working node keeps its place and its name in lists, as after nearly all events of a
 * run.
 */
export const isSteady = ({ type, path }: Readonly<{ type: string; path: string }>): boolean =>
  path !== "" && STEADY.has(type);

const STEADY: ReadonlySet<string> = new Set([
  "text.delta",
  "thinking.delta",
  "tool.delta",
  "turn.partial",
  "turn.started",
  "turn.ended",
  "tool.started",
  "tool.ended",
]);

/** True for a node that waits for nothing: no person, no provider and no other node. */
export const waitsForNothing = ({
  question,
  doing,
}: Readonly<{ question: string | undefined; doing: string }>): boolean =>
  question === undefined && !doing.startsWith("waiting");
