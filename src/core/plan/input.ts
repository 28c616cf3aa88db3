/** The input of any mode before it is validated by the schema of that mode. */
export type AnyInput = Readonly<{ mode: string }> & Readonly<Record<string, unknown>>;
