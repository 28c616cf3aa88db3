/** The states of runs, each with the number of its moves. */
const counts = new WeakMap<object, number>();

/**
 * How many events of a run may have moved one of its nodes to another group of a list, renamed, added or removed it. A list
 * that was made at this number still holds.
 */
export const movesOf = (state: object): number => counts.get(state) ?? 0;

/** Counts a move. */
export const countMove = (state: object): void => void counts.set(state, movesOf(state) + 1);

/** Events with which a node that works keeps its place and its name. Nearly all events of a run are among them. */
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

/** Whether a node, as far as such an event can tell, waits for nothing. */
export const waitsForNothing = ({
  question,
  doing,
}: Readonly<{ question: string | undefined; doing: string }>): boolean =>
  question === undefined && !doing.startsWith("waiting");
