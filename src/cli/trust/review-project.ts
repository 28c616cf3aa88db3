import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { findAgents, findCommands, findSkills } from "../../defaults.ts";
import { openTrust, type TrustStore } from "../../runtime/settings/trust.ts";
import { reviewTrust, type TrustReview, trustedTexts } from "../../runtime/settings/trust-review.ts";
import { homes } from "../base/home.ts";

/** Opens the user's trust store. */
export const openOwnTrust = (): TrustStore => openTrust(join(homes().state, "trust.json"));

/** The files that the project of a folder adds, compared with the files that were trusted. */
export function reviewProject(cwd: string, store: TrustStore): Promise<readonly TrustReview[]> {
  const { home } = homes();
  return reviewTrust({
    cwd,
    home,
    granted: store.granted,
    looking: [
      { kind: "agent", find: (trust) => findAgents({ cwd, home, trust }) },
      { kind: "skill", find: async (trust) => (await findSkills({ cwd, home, trust })).discovery },
      { kind: "command", find: async (trust) => (await findCommands({ cwd, home, trust })).discovery },
    ],
  });
}

/**
 * Trusts one file of a project that the person just created with a subcrew command, and no other file of the project.
 */
export async function trustOwnFile(cwd: string, file: string): Promise<void> {
  const store = openOwnTrust();
  const real = realpathSync.native(file);
  for (const { root, brought } of await reviewProject(cwd, store)) {
    const made = brought.find(({ path }) => path === real);
    if (made === undefined) continue;
    const before = store.granted(root) ?? { at: new Date().toISOString(), files: {} };
    const files = { ...before.files, [relative(root, real)]: made.hash };
    await store.grant(root, { ...before, files }, trustedTexts([made]));
  }
}
