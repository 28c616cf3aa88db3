/** The keys that an object at a place of a zod schema may have, as far as they can be read from the schema. */
export function keysAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  const shapes = placesAt(schema, path)
    .flatMap(unwrap)
    .map((place) => definitionOf(place)["shape"] as object | undefined);
  return [...new Set(shapes.flatMap((shape) => Object.keys(shape ?? {})))];
}

/** The description that a JSON Schema gives for a path, or an empty text. */
export function descriptionAt(schema: unknown, path: readonly PropertyKey[]): string {
  const described = placesAt(schema, path).map((place) => (place as { readonly description?: string }).description);
  return described.find((text) => text !== undefined) ?? "";
}

type Definition = { readonly type?: string; readonly [key: string]: unknown };
const definitionOf = (schema: unknown): Definition => (schema as { readonly def?: Definition } | undefined)?.def ?? {};

function placesAt(schema: unknown, path: readonly PropertyKey[]): unknown[] {
  let places: unknown[] = [schema];
  for (const step of path) places = places.flatMap(unwrap).flatMap((place) => below(place, step));
  return places;
}

function below(schema: unknown, step: PropertyKey): unknown[] {
  const definition = definitionOf(schema);
  if (definition.type === "object")
    return [(definition["shape"] as Record<PropertyKey, unknown>)[step]].filter((found) => found !== undefined);
  if (definition.type === "array") return [definition["element"]];
  if (definition.type === "record") return [definition["valueType"]];
  return [];
}

function unwrap(schema: unknown): unknown[] {
  const definition = definitionOf(schema);
  if (definition.type === "union") return (definition["options"] as unknown[]).flatMap(unwrap);
  if (definition.type === "lazy") return unwrap((definition["getter"] as () => unknown)());
  if (definition.type === "pipe") return unwrap(definition["in"]);
  if (definition["innerType"] !== undefined) return unwrap(definition["innerType"]);
  return [schema];
}
