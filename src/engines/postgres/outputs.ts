import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Artifact } from "../../core/outcome/artifact.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { OutputKind, RunDocuments, RunOutputs, RunStore } from "../../core/run/run-store.ts";
import { outputInEvents } from "../../core/run/output-in-events.ts";
import { defined } from "../../core/text/defined.ts";
import { IMAGE_PREFIX } from "../../core/vocabulary/image.ts";
import { artifactOf } from "../../runtime/disk/artifact-of.ts";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import type { Artifacts } from "./artifacts.ts";
import type { Database } from "./database.ts";

/** The maximum size of a shared file. */
const MOST_BYTES = 256_000_000;

/**
 * Stores outputs of tasks as artifacts. `local` is the store of this machine, which writes the files that people and
 * agents read.
 */
export function runOutputs(
  database: Database,
  artifacts: Artifacts,
  local: Pick<RunStore, "keep" | "file" | "hasFile" | "local">,
): RunOutputs & RunDocuments {
  /** An image of the run, which its reader checks by its name. Other texts are only read by the hash in a record. */
  const image = async (run: string, path: string): Promise<string | undefined> => {
    if (!path.startsWith(IMAGE_PREFIX)) return undefined;
    const [row] = await database.query<{ hash: string }>(
      "select hash from subcrew.outputs where run = $1 and path = $2 and kind = 'output'",
      [run, path],
    );
    return row && (await artifacts.get(row.hash))?.toString();
  };
  /** The output of a task in its events. The SQL filter only avoids reading the other events. */
  const recordedText = async (run: string, path: string): Promise<string | undefined> => {
    const rows = await database.query<{ event: KeptEvent }>(
      `select event from subcrew.events where run = $1 and path = $2 and event::text like '%.ended"%' order by seq`,
      [run, path],
    );
    return outputInEvents(
      rows.map(({ event }) => event),
      path,
    );
  };
  const output: RunOutputs["output"] = async (run, path, text) =>
    text ? (await artifacts.get(text.hash))?.toString() : ((await recordedText(run, path)) ?? image(run, path));
  const put = async (
    run: string,
    path: string,
    kind: OutputKind,
    { artifact, body }: Readonly<{ artifact: Artifact; body: Buffer }>,
  ): Promise<void> => {
    await artifacts.put(artifact, body);
    await database.query(
      `insert into subcrew.outputs (run, path, kind, hash) values ($1, $2, $3, $4)
       on conflict (run, path, kind) do update set hash = excluded.hash`,
      [run, path, kind, artifact.hash],
    );
  };
  /** The patch file on this machine. If the database has a patch with this hash, the file gets it, byte for byte. */
  const patchFile = async (run: string, path: string, hash: string | undefined): Promise<string | undefined> => {
    const body = hash === undefined ? undefined : await artifacts.get(hash);
    if (!body) return local.file(run, path, { kind: "patch", ...defined({ hash }) });
    const file = await local.file(run, path, { kind: "patch" });
    if (file === undefined) return undefined;
    await mkdir(dirname(file), { recursive: true });
    await writeAtomic(file, body);
    return file;
  };
  /** Output files whose paths were returned in this process before they existed, as `run path`. */
  const promised = new Set<string>();
  return {
    keep: async (run, path, text, kind = "output") => {
      const whole = text.endsWith("\n") ? text : `${text}\n`;
      const artifact = artifactOf(whole);
      await put(run, path, kind, { artifact, body: Buffer.from(whole) });
      return artifact;
    },
    output,
    recorded: async (run, path, text) => {
      if (promised.delete(`${run} ${path}`) || local.hasFile?.(run, path)) await local.keep(run, path, text);
      return artifactOf(text.endsWith("\n") ? text : `${text}\n`);
    },
    share: async (run, path, kind) => {
      const file = await local.file(run, path, { kind });
      const body = file === undefined ? undefined : await readRegularFile(file, MOST_BYTES).catch(() => undefined);
      if (!body) return;
      const artifact = { hash: createHash("sha256").update(body).digest("hex"), bytes: body.length };
      await put(run, path, kind, { artifact, body });
    },
    file: async (run, path, { kind = "output", text, hash } = {}) => {
      if (kind === "patch") return patchFile(run, path, hash);
      if (kind === "output") promised.add(`${run} ${path}`); // set before any await, because the output may arrive meanwhile
      const known = text ?? (await output(run, path));
      if (known === undefined) return local.file(run, path, { kind });
      promised.delete(`${run} ${path}`);
      await local.keep(run, path, known, kind);
      return local.file(run, path, { kind });
    },
    local: local.local,
    document: async (run, name) => {
      const [row] = await database.query<{ body: string }>(
        "select body from subcrew.documents where run = $1 and name = $2",
        [run, name],
      );
      return row?.body;
    },
    setDocument: async (run, name, text) => {
      await database.query(
        `with made as (insert into subcrew.runs (run) values ($1) on conflict (run) do nothing)
         insert into subcrew.documents (run, name, body) values ($1, $2, $3)
         on conflict (run, name) do update set body = excluded.body`,
        [run, name, text],
      );
    },
  };
}
