/** The fields of an object that have a value. A field that may be undefined becomes an optional field. */
export function defined<T extends object>(fields: T): Defined<T>;
export function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept;
}

/** The same type without `undefined` as the value of an optional field, also inside of objects. */
export type Exact<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]: Exact<Exclude<T[K], undefined>> }
    : T;

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
