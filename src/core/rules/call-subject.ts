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
  | Readonly<{
      kind: "path";
      places: readonly string[];
      change: boolean;
      /** The closed place that it lies in. */
      closed?: ClosedPlace;
    }>;

/** A place of secrets, which a rule of the user can open, or the state folder, which nothing opens. */
export type ClosedPlace = Readonly<{ kind: "secret" | "state"; name: string }>;

/** What tells one file from every other one, and how many names it has. */
export type FileIdentity = Readonly<{ dev: number; ino: number; nlink: number }>;

/** What is closed to the readers of one folder. */
export type ClosedInFolder = Readonly<{
  /** Whether the file or folder at this path from the folder on is closed. */
  isClosed?(path: string): boolean;
  /** Whether an open file is a closed one under another name. */
  isClosedFile?(file: FileIdentity): Promise<boolean>;
}>;

/** A located path under one name, for what needs no looking up. */
export function placed(path: string, change: boolean): LocatedSubject {
  return { kind: "path", places: [path], change };
}
