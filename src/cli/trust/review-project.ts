import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { findAgents, findCommands, findSkills } from "../../defaults.ts";
import { openTrust, type TrustStore } from "../../runtime/settings/trust.ts";
import { reviewTrust, type TrustReview, trustedTexts } from "../../runtime/settings/trust-review.ts";
import { homes } from "../base/home.ts";

/** The trust store of the person. */
export const openOwnTrust = (): TrustStore => openTrust(join(homes().state, "trust.json"));

/** What the project of a folder would bring in, compared with what was agreed to. */
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

/** Trusts one file of a project that the person just made with a command of ours, and nothing else of the project. */
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
