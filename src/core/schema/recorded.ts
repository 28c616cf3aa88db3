import { z } from "zod";

/** Schemas whose check also applies to recorded values, and copies of them with a description. */
const exacts = z.registry<{ exact: true }>();
const forms = new WeakMap<z.core.$ZodType, z.ZodType>();

/** Marks a schema whose check also applies to recorded values, because readers rely on it. */
export function exact<S extends z.ZodType>(schema: S): S {
  exacts.add(schema, { exact: true });
  return schema;
}

/** The same schema with the type that its values have after they were parsed elsewhere. */
export const typed = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>;

/** A list that nobody may change. */
export const list = <S extends z.ZodType>(item: S): z.ZodType<readonly z.output<S>[]> => typed(z.array(item));

/** A time in milliseconds since 1970 that a `Date` can hold. */
export const time = exact(z.number().min(-8.64e15).max(8.64e15));

/**
 * The check of a recorded value: it has the types of the schema, and more fields and words are allowed, because a newer
 * version may have written it.
 */
export function asRecorded(schema: z.core.$ZodType): z.ZodType {
  const known = forms.get(schema);
  if (known) return known;
  forms.set(
    schema,
    z.lazy(() => form),
  ); // for a schema that contains itself
  const form = exacts.get(schema) ? (schema as z.ZodType) : loosened(schema as z.core.$ZodTypes);
  forms.set(schema, form);
  return form;
}

function loosened(schema: z.core.$ZodTypes): z.ZodType {
  const { def } = schema as unknown as { def: z.core.$ZodTypes["_zod"]["def"] };
  switch (def.type) {
    case "object":
      return checkedObject(def.shape);
    case "string":
    case "enum":
      return z.string();
    case "number":
      return z.number();
    case "array":
      return z.array(asRecorded(def.element));
    case "record":
      return z.record(z.string(), asRecorded(def.valueType));
    case "optional":
    case "default":
    case "prefault":
      return asRecorded(def.innerType).optional();
    case "readonly":
    case "nonoptional":
      return asRecorded(def.innerType);
    case "union":
      return unionOf(def);
    case "unknown":
      return (schema as unknown as z.ZodType).optional();
    case "pipe":
      return asRecorded(def.out);
    default:
      return schema as unknown as z.ZodType;
  }
}

function checkedObject(shape: z.core.$ZodShape): z.ZodObject {
  return z.object(Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, asRecorded(field)])));
}

/** Objects of several kinds keep the words that tell the kinds apart: what a reader does depends on them. */
function unionOf(def: z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef): z.ZodType {
  if (!("discriminator" in def)) return z.union(def.options.map(asRecorded));
  const { discriminator } = def;
  const options = def.options.map((option) => {
    const { shape } = option as z.ZodObject;
    return checkedObject(shape).extend({ [discriminator]: shape[discriminator] as z.ZodType });
  });
  return z.discriminatedUnion(discriminator, options as never);
}
