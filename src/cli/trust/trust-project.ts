import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { projectRoot } from "../../runtime/discovery/places.ts";
import type { TrustStore } from "../../runtime/settings/trust.ts";
import { grantOf, type TrustReview, trustedTexts } from "../../runtime/settings/trust-review.ts";
import type { Flags } from "../base/flags.ts";
import { homes } from "../base/home.ts";
import { table } from "../base/table.ts";
import { stdoutLook, terminal } from "../base/terminal.ts";
import { askYes } from "../terminal/confirm.ts";
import { openOwnTrust, reviewProject } from "./review-project.ts";
import { reviewText } from "./review-text.ts";
import { terminalLine } from "../../core/view/words.ts";

/** The command `subcrew trust`. */
export async function trustProject(flags: Flags): Promise<number> {
  const cwd = folderOf(flags.cwd);
  const store = openOwnTrust();
  if (flags.list) return list(store, flags);
  const reviews = await reviewProject(cwd, store);
  const root = realpathSync.native(projectRoot(cwd, homes().home));
  return flags.revoke
    ? revoke(store, [...new Set([root, ...reviews.map((one) => one.root)])], flags)
    : agree(store, reviews, flags);
}

function folderOf(cwd: string | undefined): string {
  const folder = resolve(cwd ?? ".");
  if (existsSync(folder)) return folder;
  throw new CrewError(
    "BAD_FILE",
    `--cwd: the folder "${cwd}" does not exist.`,
    "Check the path; it is relative to the current folder.",
  );
}

function list(store: TrustStore, flags: Flags): number {
  const rows = store.list().map((root) => {
    const { at = "", files = {} } = store.granted(root) ?? {};
    return { root, since: at.slice(0, 10), files: Object.keys(files).length, there: existsSync(root) };
  });
  if (flags.json) process.stdout.write(`${jsonText(rows, 2)}\n`);
  else if (rows.length === 0) process.stderr.write("No project is trusted.\n");
  else {
    const shown = rows.map(({ root, since, files, there }) => ({
      since,
      files: `${files} files`,
      root: there ? root : `${root} (gone)`,
    }));
    process.stdout.write(table(shown, stdoutLook(flags)));
  }
  return 0;
}

async function revoke(store: TrustStore, roots: readonly string[], flags: Flags): Promise<number> {
  const taken: string[] = [];
  for (const root of roots) if (await store.revoke(root)) taken.push(root);
  if (flags.json) process.stdout.write(`${jsonText({ revoked: taken })}\n`);
  else
    process.stdout.write(
      taken.length === 0
        ? "This project was not trusted.\n"
        : taken.map((root) => `${terminalLine(root)} is no longer trusted\n`).join(""),
    );
  return 0;
}

async function agree(store: TrustStore, reviews: readonly TrustReview[], flags: Flags): Promise<number> {
  const open = reviews.filter(({ brought, gone }) => gone.length > 0 || brought.some(({ state }) => state !== "same"));
  const asking = open.some(({ brought }) => brought.some(({ state }) => state !== "same"));
  if (flags.json) process.stdout.write(`${jsonText(reviews.map(dataOf), 2)}\n`);
  else for (const review of reviews) process.stdout.write(reviewText(review, store, stdoutLook(flags)));
  const grant = async (): Promise<void> => {
    for (const review of open)
      await store.grant(review.root, grantOf(review, new Date()), trustedTexts(review.brought));
  };
  if (!asking) {
    if (!flags.json)
      process.stderr.write(
        reviews.length === 0
          ? "This project has no files that need trust.\n"
          : "Nothing changed since you trusted this project.\n",
      );
    await grant();
    return 0;
  }
  if (!flags.yes && !(await isAgreed(flags))) {
    process.stderr.write("The project was not trusted.\n");
    return 3;
  }
  await grant();
  if (!flags.json) process.stderr.write(open.map(({ root }) => `${terminalLine(root)} is trusted\n`).join(""));
  return 0;
}

/** True when the person confirms; without a terminal it is false. */
async function isAgreed(flags: Flags): Promise<boolean> {
  if (flags.json || !terminal(flags).attended)
    throw new CrewError(
      "UNTRUSTED",
      "Trusting a project needs a confirmation in a terminal.",
      "Read the list, then run `subcrew trust --yes`.",
    );
  return askYes("Trust these files as they are now?");
}

const dataOf = ({ root, brought, gone, since }: TrustReview): unknown => ({
  root,
  since: since ?? null,
  gone,
  files: brought.map(({ found, path: _path, ...rest }) => ({
    ...rest,
    tools: found.map(({ agent }) => agent.tools ?? null),
  })),
});
