import type { KeptEvent } from "../../core/run/event.ts";

/** How many lines were added to and removed from one file. */
export type DiffCount = Readonly<{ added: number; removed: number }>;

/** The lines that file tools added and removed, by path, read from the diffs that they returned. */
export function diffCounts(events: Iterable<KeptEvent>): ReadonlyMap<string, DiffCount> {
  const counts = new Map<string, DiffCount>();
  for (const event of events) {
    if (event.type !== "tool.ended" || event.error) continue;
    const [, before = "", after = "", body = ""] = DIFF.exec(event.text) ?? [];
    const path = after === "/dev/null" ? before : after;
    if (path === "") continue;
    const { added, removed } = counts.get(path) ?? { added: 0, removed: 0 };
    counts.set(path, { added: added + count(body, "+"), removed: removed + count(body, "-") });
  }
  return counts;
}

const DIFF = /^--- (.*)\n\+\+\+ (.*)\n([\s\S]*)$/m;

const count = (body: string, sign: string): number => body.split("\n").filter((line) => line.startsWith(sign)).length;
