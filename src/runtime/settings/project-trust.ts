import { homedir } from "node:os";
import { join } from "node:path";
import type { Trust } from "../discovery/distrust.ts";
import { type ClosedPlaces, createClosedPlaces } from "../files/secret-places.ts";
import { openTrust, trustEverything } from "./trust.ts";

/** The workspace and the folders of a crew. `trusted`: the caller trusts all files of projects. */
export type ProjectTrustSpec = Readonly<{
  trusted?: boolean | undefined;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Subcrew's state folder. */
  state: string;
}>;

/** Which files of projects a crew uses: those that the user trusts, and none that lead to a place with secrets. */
export function projectTrust({ trusted, cwd, env, state }: ProjectTrustSpec): Trust {
  let closed: ClosedPlaces | undefined;
  return {
    ...(trusted === true ? trustEverything : openTrust(join(state, "trust.json")).trust),
    isClosed: (real) => {
      closed ??= createClosedPlaces({ homes: [env["HOME"] ?? homedir(), homedir()], state, workspace: cwd, env });
      return !DEFINITION.test(real) && closed.at(real) !== undefined;
    },
  };
}

/** A definition in the folder of an agent program, to which a project may link; the folder also holds credentials. */
const DEFINITION = /\/(?:agents?|skills|commands)\/.+\.(?:md|toml)$/;
