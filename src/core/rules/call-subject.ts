/** What a call is about, as its arguments say it: what the patterns of rules are compared with. */
export type Subject =
  | Readonly<{
      kind: "path";
      path: string;
      /** It is written, moved or deleted. */
      change: boolean;
      /** A link there is meant itself. */
      itself?: true;
    }>
  | Readonly<{ kind: "command"; command: string }>
  | Readonly<{ kind: "url"; url: string }>
  /** Anything else that has a name: a note, an agent. */
  | Readonly<{ kind: "name"; name: string }>;

/**
 * The same once a path was looked up: every way in which it can be named from the workspace on, where it really is last.
 * What lies in another folder that may be written is named by its absolute path.
 */
export type LocatedSubject =
  | Exclude<Subject, { kind: "path" }>
  | Readonly<{ kind: "path"; places: readonly string[]; change: boolean }>;

/** A located path under one name, for what needs no looking up. */
export function placed(path: string, change: boolean): LocatedSubject {
  return { kind: "path", places: [path], change };
}
