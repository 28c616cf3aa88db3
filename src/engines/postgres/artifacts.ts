import { createHash } from "node:crypto";
import type { Artifact } from "../../core/outcome/artifact.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { RunAgents } from "../../core/run/run-store.ts";
import { artifactOf } from "../../runtime/disk/artifact-of.ts";
import type { Database } from "./database.ts";

/** A store of texts, addressed by the hash of their content. Equal contents are stored once. */
export type Artifacts = Readonly<{
  put(artifact: Artifact, body: Buffer): Promise<void>;
  get(hash: string): Promise<Buffer | undefined>;
  /** Deletes stored contents that no output and no run refers to. */
  sweep(): Promise<void>;
}>;

/** A store for large contents outside of the database: a folder or a bucket. Every method can be repeated. */
export type ObjectStore = Readonly<{
  /** The location of a stored object, as error messages and the database state it. */
  place(hash: string): string;
  put(hash: string, body: Buffer): Promise<void>;
  get(hash: string): Promise<Buffer | undefined>;
  remove(hash: string): Promise<void>;
}>;

/** Larger contents go to the object store, if this process has one. */
export const LARGE_BYTES = 1_000_000;
/** The age below which contents without a reference are kept: their output may be about to be recorded. */
const YOUNG = "interval '1 hour'";

/** Stores contents in the database, and large contents in an object store. */
export function openArtifacts(database: Database, objects?: ObjectStore): Artifacts {
  return {
    put: async ({ hash, bytes }, body) => {
      const isLarge = objects !== undefined && bytes > LARGE_BYTES;
      if (isLarge) await objects.put(hash, body); // the object is stored before the row, so that every row has its object
      await database.query(
        `insert into subcrew.artifacts (hash, bytes, body, place) values ($1, $2, $3, $4)
         on conflict (hash) do update set created = clock_timestamp()`,
        [hash, bytes, isLarge ? null : body, isLarge ? objects.place(hash) : null],
      );
    },
    get: async (hash) => {
      const [row] = await database.query<{ body: Buffer | null; place: string | null }>(
        "select body, place from subcrew.artifacts where hash = $1",
        [hash],
      );
      if (!row) return undefined;
      // The row's place (where the writer stored the content) is only shown to people: only the object store of this
      // process is read, and the hash is verified.
      if (row.place !== null && !objects) throw elsewhere(row.place);
      const body = row.place === null ? row.body : await objects?.get(hash);
      if (body && createHash("sha256").update(body).digest("hex") !== hash)
        throw new CrewError(
          "RUN_DAMAGED",
          `The stored result ${row.place === null ? hash : objects?.place(hash)} does not match its hash: it was changed or damaged.`,
          "Run the task again.",
        );
      return body ?? undefined;
    },
    sweep: async () => {
      const gone = await database.query<{ hash: string; place: string | null }>(
        `delete from subcrew.artifacts a where created < clock_timestamp() - ${YOUNG}
         and not exists (select from subcrew.outputs o where o.hash = a.hash)
         and not exists (select from subcrew.run_agents g where g.hash = a.hash) returning hash, place`,
      );
      for (const { hash, place } of gone) if (place !== null) await objects?.remove(hash).catch(() => {});
    },
  };
}

const elsewhere = (place: string): CrewError =>
  new CrewError(
    "ENGINE_UNREACHABLE",
    `The result cannot be read: it is stored outside of the database, in ${place}.`,
    "Set SUBCREW_ARTIFACTS on this machine as on the workers.",
  );

/** The definitions of agents that runs carry, as artifacts. A row for each run says which of them are needed. */
export function runAgents(database: Database): RunAgents {
  return {
    keepAgents: async (run, texts) => {
      await database.query(KEEP, [run, [...texts.keys()], [...texts.values()]]);
    },
    agentTexts: async (hashes) => {
      const rows = await database.query<{ hash: string; body: Buffer }>(
        "select hash, body from subcrew.artifacts where hash = any($1) and body is not null",
        [hashes],
      );
      const texts = rows.map(({ hash, body }) => [hash, body.toString()] as const);
      return new Map(texts.filter(([hash, text]) => artifactOf(text).hash === hash));
    },
  };
}

/** Most runs find the texts in the database: their rows are only changed before a sweep could delete them. */
const KEEP = `
  with texts as (select hash, convert_to(body, 'UTF8') as body from unnest($2::text[], $3::text[]) as t (hash, body)),
  kept as (
    insert into subcrew.artifacts (hash, bytes, body) select hash, length(body), body from texts
    on conflict (hash) do update set created = clock_timestamp()
    where artifacts.created < clock_timestamp() - interval '30 minutes'
  )
  insert into subcrew.run_agents (run, hash) select $1, hash from texts on conflict (run, hash) do nothing`;
