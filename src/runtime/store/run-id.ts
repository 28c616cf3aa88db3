import type { RunStore } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { mapLimited } from "../async/map-limited.ts";

/** The form of the id of a run. */
export const RUN_ID = /^run_[a-z0-9]{12}$/;

/** A new run id from random bytes. */
export function runId(random: () => number): string {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  return `run_${Array.from({ length: 12 }, () => letters[Math.floor(random() * letters.length)]).join("")}`;
}

/**
 * The run that an id, a name, or the beginning of an id means. Of several runs with one name, it is the newest. `last`
 * is the newest run.
 */
export async function runNamed(store: Pick<RunStore, "list" | "first">, word: string): Promise<string> {
  const all = await store.list();
  const exact = all.find((run) => run === word);
  if (exact !== undefined) return exact;
  const names = await mapLimited(all, READ_AT_ONCE, async (run) => {
    const first = await store.first(run);
    return first?.type === "run.started" ? first.name : undefined;
  });
  const named = all[names.indexOf(word)];
  if (named !== undefined) return named;
  if (word === "last" && all[0] !== undefined) return all[0];
  const matching = all.filter((run) => run.startsWith(word) || run.startsWith(`run_${word}`));
  if (matching.length === 1 && word.length >= MIN_PREFIX) return matching[0]!;
  if (matching.length > 1)
    throw new CrewError(
      "UNKNOWN_RUN",
      `"${word}" matches ${matching.length} runs.`,
      `Give more of the id: ${matching.slice(0, 3).join(", ")}.`,
    );
  throw new CrewError(
    "UNKNOWN_RUN",
    `The run "${word}" does not exist.`,
    all.length > 0 ? `The newest run is ${all[0]}.` : "No runs yet.",
  );
}

const READ_AT_ONCE = 32;
const MIN_PREFIX = 3;
