import type { Artifact } from "../../core/outcome/artifact.ts";
import type { Database } from "./database.ts";

/** Contents by their hash. Equal contents are kept once. */
export type Artifacts = Readonly<{
  put(artifact: Artifact, body: Buffer): Promise<void>;
  get(hash: string): Promise<Buffer | undefined>;
  /** Deletes what no output refers to. */
  sweep(): Promise<void>;
}>;

/** Young artifacts are kept: their output may be about to be recorded. */
const YOUNG = "interval '1 hour'";

/** Artifacts in the database. */
export function openArtifacts(database: Database): Artifacts {
  return {
    put: async ({ hash, bytes }, body) => {
      await database.query(
        `insert into subcrew.artifacts (hash, bytes, body) values ($1, $2, $3)
         on conflict (hash) do update set created = clock_timestamp()`,
        [hash, bytes, body],
      );
    },
    get: async (hash) => {
      const [row] = await database.query<{ body: Buffer | null }>(
        "select body from subcrew.artifacts where hash = $1",
        [hash],
      );
      return row?.body ?? undefined;
    },
    sweep: async () => {
      await database.query(
        `delete from subcrew.artifacts a where created < clock_timestamp() - ${YOUNG}
         and not exists (select from subcrew.outputs o where o.hash = a.hash)`,
      );
    },
  };
}
