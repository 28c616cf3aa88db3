import { isAbsolute } from "node:path";
import { CrewError } from "../../core/schema/error.ts";
import type { ObjectStore } from "../postgres/artifacts.ts";
import { folderObjects } from "./folder-objects.ts";
import { s3Objects } from "./s3-objects.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Opens the store for large results; SUBCREW_ARTIFACTS names a folder or a bucket. */
export function objectsNamedIn(env: Env): ObjectStore | undefined {
  const word = env["SUBCREW_ARTIFACTS"];
  if (word === undefined || word === "") return undefined;
  if (isAbsolute(word)) return folderObjects(word);
  const address = URL.canParse(word) ? new URL(word) : undefined;
  if (address?.protocol === "s3:" && address.hostname !== "") return s3Objects({ address, env });
  throw new CrewError(
    "BAD_INPUT",
    "SUBCREW_ARTIFACTS names neither a folder nor a bucket.",
    "Write an absolute path, or s3://BUCKET/PREFIX?endpoint=https://HOST&region=NAME.",
  );
}
