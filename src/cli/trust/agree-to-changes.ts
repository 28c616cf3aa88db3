import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Crew } from "../../crew/crew-type.ts";
import { hashOfFile } from "../../runtime/discovery/files.ts";
import type { TrustStore } from "../../runtime/settings/trust.ts";
import {
  currentText,
  type ProjectSource,
  type TrustReview,
  trustedTexts,
} from "../../runtime/settings/trust-review.ts";
import type { Flags } from "../base/flags.ts";
import { terminal } from "../base/terminal.ts";
import { askYes } from "../terminal/confirm.ts";
import { openOwnTrust, reviewProject } from "./review-project.ts";
import { changeText } from "./review-text.ts";
import { terminalLine } from "../../core/view/words.ts";

/**
 * Shows files of a trusted project that changed since they were trusted, and new files that are about to be used, and
 * asks the person about them. Refused content is not asked about again. Returns true when the person agreed.
 */
export async function agreeToChanges(crew: Crew, flags: Flags, used: ReadonlySet<string>): Promise<boolean> {
  const { look, attended } = terminal(flags);
  if (!attended || flags.trust) return false;
  const store = openOwnTrust();
  if (!(await mayHaveChanged(crew, store))) return false;
  let agreed = false;
  for (const review of await reviewProject(crew.cwd, store)) {
    const open = review.brought.filter((source) => isOpen(source, review, { store, used }));
    if (open.length === 0) continue;
    const one = open.length === 1 ? "this file" : "these files";
    process.stderr.write(
      `You have not trusted ${one} of ${terminalLine(review.root)} as ${open.length === 1 ? "it is" : "they are"} now:\n`,
    );
    process.stderr.write(`${changeText(open, store, look)}\n`);
    const yes = await askYes(`Trust ${one}?`);
    await remember(store, review, open, yes);
    agreed ||= yes;
  }
  return agreed;
}

/**
 * A quick check whether agents or trusted files may have changed. The full check is slow, and in most runs nothing has
 * changed.
 */
async function mayHaveChanged(crew: Crew, store: TrustStore): Promise<boolean> {
  const { untrusted } = await crew.agents();
  if (untrusted.some(({ distrust }) => distrust === "changed" || distrust === "new")) return true;
  return store
    .list()
    .filter((root) => resolve(crew.cwd).startsWith(root))
    .some((root) =>
      Object.entries(store.granted(root)?.files ?? {}).some(([name, hash]) => {
        const path = resolve(root, name);
        return existsSync(path) && hashOfFile(path, currentText(path) ?? "") !== hash;
      }),
    );
}

function isOpen(
  { state, file, hash, names }: ProjectSource,
  { root }: TrustReview,
  { store, used }: Readonly<{ store: TrustStore; used: ReadonlySet<string> }>,
): boolean {
  const grant = store.granted(root);
  if (grant === undefined || state === "same" || grant.refused?.[file] === hash) return false;
  return state === "changed" || names.some((name) => used.has(name));
}

async function remember(
  store: TrustStore,
  { root }: TrustReview,
  sources: readonly ProjectSource[],
  yes: boolean,
): Promise<void> {
  const grant = store.granted(root) ?? { at: new Date().toISOString(), files: {} };
  const hashes = Object.fromEntries(sources.map(({ file, hash }) => [file, hash]));
  if (yes) await store.grant(root, { ...grant, files: { ...grant.files, ...hashes } }, trustedTexts(sources));
  else await store.grant(root, { ...grant, refused: { ...grant.refused, ...hashes } });
}

/** Every string in an input; agent names are among them. */
export function textsIn(value: unknown): Set<string> {
  const found = new Set<string>();
  const walk = (each: unknown): void => {
    if (typeof each === "string") found.add(each);
    else if (typeof each === "object" && each !== null) Object.values(each).forEach(walk);
  };
  walk(value);
  return found;
}
