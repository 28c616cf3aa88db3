import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { linkToken, type WebSecrets } from "../../web/sessions.ts";

/**
 * The record of `subcrew web` in the state folder: secrets that stay valid after a restart, and the port of the
 * running server.
 */
export type WebRecord = WebSecrets & Readonly<{ port: number; pid: number }>;

const fileIn = (state: string): string => join(state, "web.json");

/** Reads the record; `undefined` when it is missing or unreadable. */
export async function readWebRecord(state: string): Promise<WebRecord | undefined> {
  try {
    const value: unknown = parseJson(await readRegularText(fileIn(state)));
    if (!isRecord(value)) return undefined;
    const { prefix, key, boot, port, pid } = value;
    const texts = [prefix, key, boot].every((text) => typeof text === "string" && /^[\w-]{12,64}$/.test(text));
    return texts && typeof port === "number" && typeof pid === "number" ? (value as WebRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the record readable only by the user, because its secrets allow making links. */
export async function writeWebRecord(state: string, record: WebRecord): Promise<void> {
  await mkdir(state, { recursive: true, mode: 0o700 });
  await writePrivate(fileIn(state), `${JSON.stringify(record)}\n`);
}

/**
 * Writes a file that redirects a browser to the page. Every user of the machine can see the arguments of programs, so
 * the link itself is never passed as an argument.
 */
export async function writeOpener(state: string, url: string): Promise<string> {
  const file = join(state, "web-open.html");
  await writePrivate(
    file,
    `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">subcrew</a>\n`,
  );
  return file;
}

async function writePrivate(file: string, text: string): Promise<void> {
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: "wx" });
  await chmod(file, 0o600);
}

/** The URL that signs a browser in; `cwd` is the project of the page if it is not the server's own. */
export const signInLink = (secrets: WebSecrets, port: number, role: "full" | "read", cwd?: string): string =>
  `http://127.0.0.1:${port}/${secrets.prefix}/enter?${new URLSearchParams({
    token: linkToken(secrets, role),
    ...(cwd !== undefined && { cwd }),
  }).toString()}`;

/**
 * How long a server may take to answer. On a busy machine two seconds are not enough; where no server runs, the
 * connection is refused immediately.
 */
const ANSWER_MS = 20_000;

/** True when a subcrew server answers at the port in the record. */
export async function isServed({ port, prefix }: WebRecord): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/${prefix}/enter?token=none`, {
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return response.status === 401 && (await response.text()).includes("subcrew web");
  } catch {
    return false;
  }
}
