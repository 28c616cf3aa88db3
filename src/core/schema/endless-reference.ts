import { isRecord } from "../text/json.ts";

/** Keywords whose schemas apply to the same value as the schema around them. */
const IN_PLACE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];
/** Keywords whose content is no schema, or is only used through a reference. */
const UNUSED: ReadonlySet<string> = new Set(["$defs", "definitions", "const", "enum", "default", "examples"]);

/**
 * The reference of a JSON Schema that leads back to its own schema without going into a part of the value. Checking a
 * value with such a schema never ends.
 */
export function endlessReference(schema: unknown): string | undefined {
  const anchors = anchorsIn(schema);
  const done = new Set<object>();
  const onPath = new Set<object>();
  const queue: unknown[] = [schema];
  const targetOf = (reference: string): unknown =>
    anchors.get(reference) ?? (reference.startsWith("#") ? atPointer(schema, reference.slice(1)) : undefined);
  const visit = (one: unknown, by: string): string | undefined => {
    if (Array.isArray(one)) return first(one, (each) => visit(each, by));
    if (!isRecord(one) || done.has(one)) return undefined;
    if (onPath.has(one)) return by;
    onPath.add(one);
    const found =
      first(REFERENCES, (key) => {
        const reference = one[key];
        return typeof reference === "string" ? visit(targetOf(reference), reference) : undefined;
      }) ??
      first(IN_PLACE, (key) => {
        const inner = one[key];
        return visit(key.startsWith("depend") && isRecord(inner) ? Object.values(inner) : inner, by);
      });
    onPath.delete(one);
    done.add(one);
    return found;
  };
  const seen = new Set<object>();
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    const found = visit(next, "");
    if (found !== undefined) return found;
    for (const [key, value] of Object.entries(next as Record<string, unknown>)) {
      if (UNUSED.has(key)) continue;
      queue.push(REFERENCES.includes(key) && typeof value === "string" ? targetOf(value) : value);
    }
  }
  return undefined;
}

function first<T>(list: readonly T[], find: (one: T) => string | undefined): string | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The schemas that have a name of their own, by the references to them. */
function anchorsIn(schema: unknown): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const all: unknown[] = [schema];
  for (let one = all.pop(); one !== undefined; one = all.pop()) {
    if (typeof one !== "object" || one === null) continue;
    all.push(...Object.values(one).filter((each) => each !== undefined));
    if (!isRecord(one)) continue;
    for (const key of ["$anchor", "$dynamicAnchor"]) if (typeof one[key] === "string") found.set(`#${one[key]}`, one);
    if (typeof one["$id"] === "string") found.set(one["$id"], one);
  }
  return found;
}

/** The part of a schema at a JSON pointer, such as `/$defs/node`. */
function atPointer(schema: unknown, pointer: string): unknown {
  let at: unknown = schema;
  for (const step of pointer.split("/").slice(1)) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null ? (at as Record<string, unknown>)[key] : undefined;
  }
  return at;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
