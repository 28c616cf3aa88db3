import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, sep } from "node:path";
import type { Permissions } from "../../core/policy/permissions.ts";
import { readBans } from "../../core/policy/judge-call.ts";
import { createPolicy } from "../../core/policy/policy.ts";
import { parseRules } from "../../core/rules/rule.ts";
import { toolsNamed } from "../../core/vocabulary/tool-names.ts";
import type { Trust } from "../discovery/distrust.ts";
import { folderContains } from "../files/folder-contains.ts";
import { type ClosedPlaces, createClosedPlaces } from "../files/secret-places.ts";
import { openTrust, trustEverything } from "./trust.ts";

/** The workspace and the folders of a crew. `trusted`: the caller trusts all files of projects. */
export type ProjectTrustSpec = Readonly<{
  trusted?: boolean | undefined;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Subcrew's state folder. */
  state: string;
  permissions?: Pick<Permissions, "deny"> | undefined;
}>;

/**
 * Which files of projects a crew uses: files that the user trusts, but no file that leads to a place with secrets or to
 * a file that a rule forbids to read.
 */
export function projectTrust({ trusted, cwd, env, state, permissions }: ProjectTrustSpec): Trust {
  let closed: ClosedPlaces | undefined;
  const isDenied = deniedFiles(cwd, permissions?.deny);
  return {
    ...(trusted === true ? trustEverything : openTrust(join(state, "trust.json")).trust),
    isClosed: (real) => {
      closed ??= createClosedPlaces({ homes: [env["HOME"] ?? homedir(), homedir()], state, workspace: cwd, env });
      return isDenied(real) || (!DEFINITION.test(real) && closed.at(real) !== undefined);
    },
  };
}

/** Returns a test for real paths that these rules forbid to read. */
function deniedFiles(cwd: string, deny: readonly string[] = []): (real: string) => boolean {
  const rules = deny.filter((text) => toolsNamed(text.split("(")[0]!.trim()).length > 0);
  const bans = readBans(createPolicy("default", { deny: parseRules(rules) }));
  if (bans === undefined) return () => false;
  const top = realOf(cwd);
  return (real) => bans(folderContains(top, real) ? relative(top, real).split(sep).join("/") : real);
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/**
 * Matches the definitions in the folder of an agent program. A project may link to them, but not to the rest of that
 * folder, which also holds credentials.
 */
const DEFINITION = /\/(?:agents?|skills|commands)\/.+\.(?:md|toml)$/;
