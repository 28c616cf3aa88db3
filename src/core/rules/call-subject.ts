/** Subject of a tool call, from its arguments: the value that rule patterns are matched against. */
export type Subject =
  | Readonly<{
      kind: "path";
      path: string;
      /** True: the tool call writes, moves or deletes the path. */
      change: boolean;
      /** True: the tool call is about the symbolic link at the path itself; the link is not followed. */
      itself?: true;
    }>
  | Readonly<{ kind: "command"; command: string }>
  | Readonly<{ kind: "url"; url: string }>
  /** Any other subject that has a name, such as a note or an agent. */
  | Readonly<{ kind: "name"; name: string }>;

/**
 * A subject with its path resolved: all paths of the file relative to the workspace, both through symbolic links and
 * without them, with the real path last. A file in another writable folder has its absolute path.
 */
export type LocatedSubject =
  | Exclude<Subject, { kind: "path" }>
  | Readonly<{
      kind: "path";
      places: readonly string[];
      change: boolean;
      /** The forbidden path that contains the subject's path. */
      closed?: ClosedPlace;
    }>;

/**
 * A forbidden path: a secret path, which a user's rule can allow, or subcrew's state folder, which is never accessible.
 */
export type ClosedPlace = Readonly<{ kind: "secret" | "state"; name: string }>;

/** Identity of a file (device and inode), and its number of links. */
export type FileIdentity = Readonly<{ dev: number; ino: number; nlink: number }>;

/** The forbidden paths in one folder. */
export type ClosedInFolder = Readonly<{
  /** Whether the file or folder at this relative path is forbidden. */
  isClosed?(path: string): boolean;
  /** Whether an open file is a forbidden file that was opened by another name, such as a hard link. */
  isClosedFile?(file: FileIdentity): Promise<boolean>;
}>;

/** A path subject with a single name, for paths that need no resolving. */
export function placed(path: string, change: boolean): LocatedSubject {
  return { kind: "path", places: [path], change };
}

/** What a call is about in one text, for comparison with other calls of the tool; the middle of a long text is left out. */
export function subjectsText(subjects: readonly LocatedSubject[]): string {
  const names = subjects.map((each) => {
    switch (each.kind) {
      case "path":
        return each.places.at(-1) ?? "";
      case "command":
        return each.command;
      case "url":
        return each.url;
      case "name":
        return each.name;
    }
  });
  const text = [...new Set(names)].join(", ");
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT / 2)}...${text.slice(-MAX_TEXT / 2)}`;
}

const MAX_TEXT = 1_000;
