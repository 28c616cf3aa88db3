import { MOST_NODE_ID, NODE_ID, NODE_ID_CHARACTERS } from "../core/plan/plan.ts";
import { CrewError } from "../core/schema/error.ts";

/**
 * The name that a task should get: `given` was written by a person and must be unique; otherwise `else` is used and
 * numbered.
 */
export type WantedName = Readonly<{ given?: string | undefined; else: string }>;

/** Node ids for a list of tasks: given names are kept, generated names are numbered until they are unique. */
export function nodeIds(wishes: readonly WantedName[], what: string): string[] {
  const counts = new Map<string, number>();
  const named = new Map<string, string>();
  for (const { given } of wishes) {
    if (given === undefined) continue;
    const id = asId(given);
    const other = named.get(id);
    if (other !== undefined) throw duplicate(what, id, [other, given]);
    named.set(id, given);
  }
  const taken = new Set(named.keys());
  const wished = new Set(wishes.map(({ given, else: fallback }) => asId(given ?? fallback)));
  return wishes.map(({ given, else: fallback }) => {
    if (given !== undefined) return asId(given);
    const id = unique(unlikeRound(asId(fallback), wished), taken, counts);
    taken.add(id);
    return id;
  });
}

/**
 * The error for two names with the same id: the same name, or names that differ only in characters that an id cannot
 * contain.
 */
function duplicate(what: string, id: string, [one, other]: readonly [string, string]): CrewError {
  if (one === other || one.normalize("NFC") === other.normalize("NFC"))
    return new CrewError("PLAN_DUPLICATE_ID", `Two ${what} are called "${id}".`, "Give each of them its own name.");
  return new CrewError(
    "PLAN_DUPLICATE_ID",
    `The names "${one}" and "${other}" of two ${what} both become "${id}".`,
    "Give each of them its own name, made of letters and digits of any script, blanks, and _ . : -",
  );
}

/**
 * A name as a node id: characters that an id cannot contain become underscores. Different Unicode forms of a name give
 * the same id.
 */
export function asId(name: string): string {
  const composed = name.normalize("NFC");
  if (NODE_ID.test(composed)) return composed;
  const safe = shortened(
    composed
      .trim()
      .replace(NOT_IN_ID, "_")
      .replace(/^[^\p{L}\p{N}_]/u, "_"),
  );
  return NODE_ID.test(safe) ? safe : shortened(`_${safe}`);
}

/** Converts a task path as a person types it to the path of the task: each name in it becomes a node id. */
export function asPath(typed: string): string {
  return typed
    .split("/")
    .map((name) => (name === "" ? name : asId(name)))
    .join("/");
}

/** The path of a task with the task's label in place of its node id, if that still means the same task. */
export function typedPath(path: string, label: string | undefined): string {
  const typed = `${path.slice(0, path.lastIndexOf("/") + 1)}${label ?? ""}`;
  return label !== undefined && !label.includes("/") && asPath(typed) === path ? typed : path;
}

const NOT_IN_ID = new RegExp(`[^${NODE_ID_CHARACTERS} ]`, "gu");

/** The first characters, without cutting a surrogate pair. */
const shortened = (id: string, most: number = MOST_NODE_ID): string => Array.from(id).slice(0, most).join("").trim();

/**
 * Makes an id unique by a number. Continues from the last number used, so that ten thousand tasks of one agent stay
 * cheap.
 */
function unique(id: string, taken: ReadonlySet<string>, counts: Map<string, number>): string {
  if (!taken.has(id)) return id;
  let n = counts.get(id) ?? 2;
  const numbered = (): string => `${shortened(id, MOST_NODE_ID - String(n).length - 1)}-${n}`;
  while (taken.has(numbered())) n += 1;
  counts.set(id, n + 1);
  return numbered();
}

/**
 * Changes an id that would look like a later round of another node: next to `gpt-4`, the id `gpt-4.1` looks like a
 * round of it.
 */
function unlikeRound(id: string, wished: ReadonlySet<string>): string {
  const round = /^(.+)\.(\d+)$/.exec(id);
  return round && wished.has(round[1]!) ? `${round[1]}_${round[2]}` : id;
}
