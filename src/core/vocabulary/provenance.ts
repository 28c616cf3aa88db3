/** Where the value of one field came from. */
export type FieldOrigin =
  | { readonly from: "file"; readonly key: string; readonly file?: string; readonly line?: number }
  /**
   * A value inherited from another agent. `at`: the origin of the value in that agent; `own`: what the agent's own file
   * adds.
   */
  | {
      readonly from: "base";
      readonly base: string;
      readonly file?: string;
      readonly at?: FieldOrigin;
      readonly own?: FieldOrigin;
    }
  | { readonly from: "settings"; readonly key: string; readonly file?: string; readonly line?: number }
  | { readonly from: "call"; readonly key: string }
  /** A default value, or a value that the named rule decided. */
  | { readonly from: "default"; readonly rule?: string };

/** The origin of each field whose value differs from the value written in the file. */
export type Origins = Readonly<Record<string, FieldOrigin>>;

/** One line for a person: `file.md:3 (tools)`, `base scout`, `settings`. */
export function describeOrigin(origin: FieldOrigin): string {
  switch (origin.from) {
    case "file": {
      const place = origin.file === undefined ? "the file" : origin.file;
      const key = origin.key.startsWith("(") ? origin.key : `(${origin.key})`;
      return `${place}${origin.line === undefined ? "" : `:${origin.line}`} ${key}`;
    }
    case "base": {
      const at = origin.at === undefined ? "" : `: ${describeOrigin(origin.at)}`;
      return `base ${origin.base}${at}${origin.own === undefined ? "" : ` and ${describeOrigin(origin.own)}`}`;
    }
    case "settings":
      return `settings ${placeOf(origin)}(${origin.key})`;
    case "call":
      return `the call (${origin.key})`;
    case "default":
      return origin.rule === undefined ? "default" : `default (${origin.rule})`;
  }
}

const placeOf = ({ file, line }: { readonly file?: string; readonly line?: number }): string =>
  file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`} `;
