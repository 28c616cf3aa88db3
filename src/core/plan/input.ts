/** Any mode's input as it comes in; the mode's own schema says whether it is right. */
export type AnyInput = Readonly<{ mode: string }> & Readonly<Record<string, unknown>>;
