import { dirname } from "node:path";
import { outputInEvents } from "../../core/run/output-in-events.ts";
import type { RunOutputs, RunRecords } from "../../core/run/run-store.ts";
import { artifactOf, checkedText } from "../disk/artifact-of.ts";
import type { Disk } from "../disk/disk.ts";
import { readRegularFile, readRegularText } from "../disk/regular-file.ts";
import { replaceFile, writeAtomic } from "../disk/write-atomic.ts";
import { localPlace, outputFileOf } from "./layout.ts";

/** The outputs of tasks as files in the folders of runs. */
export type OutputFiles = Omit<RunOutputs, "local" | "share"> &
  Required<Pick<RunOutputs, "hasFile">> &
  Readonly<{
    /** To be called when the run has recorded everything: drops the outputs that were kept in memory until then. */
    forget(run: string): void;
  }>;

/**
 * Opens the output files of runs. `records` returns the records of a run, which contain the outputs of its tasks; it
 * throws for an unknown run.
 */
export function createOutputFiles(
  folderOf: (run: string) => string,
  records: RunRecords["read"],
  disk: Disk,
): OutputFiles {
  /** Outputs that may not be in the journal yet, for runs of this process, by run and path. */
  const fresh = new Map<string, Readonly<{ texts: Map<string, string>; outputs: string }>>();
  /** Files whose paths were returned before their output existed. */
  const promised = new Set<string>();
  const recordedText = async (run: string, path: string): Promise<string | undefined> => {
    const text = fresh.get(run)?.texts.get(path);
    if (text !== undefined) return whole(text);
    let found: string | undefined;
    try {
      for await (const { events } of records(run)) found = outputInEvents(events, path) ?? found;
    } catch {
      return found; // the run has no records, or they cannot be read
    }
    return found;
  };
  const keptText = async (file: string, run: string, path: string): Promise<string | undefined> => {
    const text = await readRegularText(file).catch(() => undefined);
    return text === placeholder(run, path) ? undefined : text;
  };
  return {
    keep: async (run, path, text, kind = "output") => {
      const file = outputFileOf(folderOf(run), path, kind);
      await disk.mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeAtomic(file, whole(text), disk);
      return artifactOf(whole(text));
    },
    recorded: async (run, path, text) => {
      const known = fresh.get(run);
      const { texts, outputs } = known ?? {
        texts: new Map<string, string>(),
        outputs: localPlace(folderOf(run), "outputs"),
      };
      if (!known) fresh.set(run, { texts, outputs });
      texts.set(path, text);
      const ended = whole(text);
      // Most runs have no output files, so their folder is missing: one check is enough, and no path is computed.
      if (path === "" || promised.size > 0 || disk.existsSync(outputs)) {
        const file = outputFileOf(folderOf(run), path, "output");
        if (promised.delete(file) || disk.existsSync(file)) await replaceFile(file, ended, disk);
      }
      return artifactOf(ended);
    },
    output: async (run, path, text) => {
      const file = outputFileOf(folderOf(run), path, text?.kind ?? "output");
      if (!text) return (await keptText(file, run, path)) ?? recordedText(run, path);
      return checkedText(await readRegularFile(file).catch(() => undefined), text.hash)?.toString();
    },
    file: async (run, path, { kind = "output", text, hash } = {}) => {
      const file = outputFileOf(folderOf(run), path, kind);
      if (hash !== undefined) checkedText(await readRegularFile(file).catch(() => undefined), hash);
      if (kind === "output") promised.add(file); // set before anything is awaited, because the output may arrive meanwhile
      const isThere = text === undefined && (await keptText(file, run, path)) !== undefined;
      if (isThere) promised.delete(file);
      if (isThere) return file;
      const known = text ?? (kind === "output" ? await recordedText(run, path) : undefined);
      await disk.mkdir(dirname(file), { recursive: true, mode: 0o700 });
      if (known === undefined && kind === "patch") return file; // the caller writes it
      if (known === undefined) {
        await disk.writeFile(file, placeholder(run, path), { flag: "wx", mode: 0o600 }).catch(unlessThere);
        return file;
      }
      promised.delete(file);
      await replaceFile(file, whole(known), disk);
      return file;
    },
    hasFile: (run, path) => disk.existsSync(outputFileOf(folderOf(run), path, "output")),
    forget: (run) => void fresh.delete(run),
  };
}

/** The text, with a newline at its end. */
const whole = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

/** The text of an output file before the output exists, so that a reported path always exists. */
function placeholder(run: string, path: string): string {
  const what = path === "" ? run : `"${path}" of ${run}`;
  return `${what} has no result yet. See \`subcrew status ${run}\`.\n`;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
