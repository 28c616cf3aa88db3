import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { readNamedFile } from "../../runtime/disk/regular-file.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { SHORTEST_TOKEN } from "../../runtime/network/loopback-server.ts";

/** Generates a random access token. */
export const newToken = (): string => randomBytes(32).toString("base64url");

/** The caller name of a token without a name. */
const ANYBODY = "caller";

/**
 * Reads the access tokens from a file, one per line. A line may begin with the name of a caller; named callers do not
 * see each other's tasks. A missing file is created with one token, readable only by its owner.
 */
export async function tokensIn(written: string): Promise<Readonly<Record<string, string>>> {
  const file = resolve(written);
  const text = await readNamedFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new CrewError(
      "BAD_FILE",
      `The token file ${written} cannot be read: ${messageOf(error)}`,
      "Check the file and its permissions.",
    );
  });
  const lines = text.split("\n").flatMap((line) => (/^\s*(?:#|$)/.test(line) ? [] : [line.trim().split(/\s+/)]));
  if (lines.length === 0) return made(file);
  const tokens = Object.fromEntries(
    lines.map((words) => (words.length === 1 ? [ANYBODY, words[0]!] : [words[0]!, words[1]!])),
  );
  const short = Object.values(tokens).some((token) => token.length < SHORTEST_TOKEN);
  if (short || lines.some((words) => words.length > 2) || Object.keys(tokens).length < lines.length)
    throw new CrewError(
      "BAD_FILE",
      `Each line of ${written} must be a unique name followed by a token of at least ${SHORTEST_TOKEN} characters.`,
      "Correct the file, or delete it to have a new one generated.",
    );
  return tokens;
}

async function made(file: string): Promise<Readonly<Record<string, string>>> {
  const token = newToken();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  return { [ANYBODY]: token };
}
