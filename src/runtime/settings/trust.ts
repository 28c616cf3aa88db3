import { readRegularTextSync } from "../disk/regular-file.ts";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { CrewError } from "../../core/schema/error.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import type { Trust } from "../discovery/discover.ts";
import { writeAtomic } from "../disk/write-atomic.ts";

/**
 * The decisions of a person about one project: the trusted files by content hash, and the contents that the person
 * refused when asked.
 */
export type Grant = Readonly<{
  at: string;
  files: Readonly<Record<string, string>>;
  refused?: Readonly<Record<string, string>>;
}>;

/** The trust store: projects by canonical path, files by content hash. */
export type TrustStore = Readonly<{
  trust: Trust;
  granted(root: string): Grant | undefined;
  list(): readonly string[];
  /** Stores what is trusted. `texts`: the trusted contents by hash, kept to show later what changed. */
  grant(root: string, grant: Grant, texts?: ReadonlyMap<string, string>): Promise<void>;
  /** A trusted content; `undefined` when it was not kept. */
  textOf(hash: string): string | undefined;
  /** Removes trust from a project. False: it was not trusted. */
  revoke(root: string): Promise<boolean>;
}>;

/** Trusts everything, for callers that request it. */
export const trustEverything: Trust = { project: () => true };

/**
 * The store in a file. An unreadable file grants nothing and is not overwritten. A file of a trusted project that is
 * new or changed is not trusted until a person agrees to it.
 */
export function openTrust(file: string): TrustStore {
  const read = (): Record<string, Grant> => {
    const data = parsedFile(file);
    if (!isRecord(data)) return {};
    if (typeof data["version"] === "number" && data["version"] > VERSION)
      throw new CrewError(
        "BAD_FILE",
        `${file} was written by a newer version of subcrew.`,
        "Update subcrew, or move the file away and trust your projects again.",
      );
    return isRecord(data["projects"]) ? Object.fromEntries(Object.entries(data["projects"]).filter(isGrant)) : {};
  };
  const write = async (projects: Readonly<Record<string, Grant>>): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeAtomic(file, `${JSON.stringify({ version: VERSION, projects }, null, 2)}\n`);
  };
  const texts = join(dirname(file), "trusted");
  const removeUnused = async (): Promise<void> => {
    const used = new Set(Object.values(read()).flatMap(({ files }) => Object.values(files)));
    for (const hash of await readdir(texts).catch(() => [])) if (!used.has(hash)) await rm(join(texts, hash));
  };
  const projects = read();
  const granted = (root: string): Grant | undefined => (Object.hasOwn(projects, root) ? projects[root] : undefined);
  return {
    granted,
    list: () => Object.keys(projects),
    trust: {
      project: (root) => granted(root) !== undefined,
      file: ({ root, path, hash }) => {
        const files = granted(root)?.files ?? {};
        const name = relative(root, path);
        return Object.hasOwn(files, name) && files[name] === hash;
      },
      knows: ({ root, path }) => Object.hasOwn(granted(root)?.files ?? {}, relative(root, path)),
    },
    textOf: (hash) => {
      try {
        return readRegularTextSync(join(texts, hash));
      } catch {
        return undefined;
      }
    },
    grant: async (root, grant, contents = new Map()) => {
      if (isDamaged(file))
        throw new CrewError(
          "BAD_FILE",
          `${file} is damaged, so it is not overwritten.`,
          "Correct the file, or delete it.",
        );
      projects[root] = grant;
      await mkdir(texts, { recursive: true, mode: 0o700 });
      for (const [hash, text] of contents) await writeAtomic(join(texts, hash), text);
      await write({ ...read(), [root]: grant });
      await removeUnused();
    },
    revoke: async (root) => {
      const there = granted(root) !== undefined;
      delete projects[root];
      const { [root]: _gone, ...rest } = read();
      if (there) await write(rest);
      await removeUnused();
      return there;
    },
  };
}

/** The version of the trust file. It has not changed since version 0.1 of subcrew. */
const VERSION = 1;

function parsedFile(file: string): unknown {
  if (!existsSync(file)) return undefined; // this runs at each start, and an exception is expensive
  try {
    return parseJson(readRegularTextSync(file));
  } catch {
    return undefined;
  }
}

/** True if the file exists and is not JSON: it may still hold decisions of the person, so it is not overwritten. */
function isDamaged(file: string): boolean {
  try {
    parseJson(readRegularTextSync(file));
    return false;
  } catch (error) {
    return error instanceof SyntaxError;
  }
}

function isGrant(entry: [string, unknown]): entry is [string, Grant] {
  const [, grant] = entry;
  return (
    isRecord(grant) &&
    isRecord(grant["files"]) &&
    Object.values(grant["files"]).every((hash) => typeof hash === "string")
  );
}
