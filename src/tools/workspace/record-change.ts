import { dirname, join } from "node:path";
import { ABSENT, type ChangedFile } from "../../core/run/file-version.ts";
import type { ToolContext } from "../../core/task/tool.ts";
import type { ContainedPath } from "../../runtime/files/write-contained.ts";

/** A path that a tool call is about to change. */
type Changing = Pick<ContainedPath, "real" | "at">;

/** Records that a file is about to get this content. Newly created parent folders are part of the change. */
export async function recordWrite(
  { access }: ToolContext,
  { real, at, made }: ContainedPath,
  content: string,
): Promise<void> {
  const changes = access?.changes;
  if (!changes) return;
  const before = await changes.version(at(), real);
  const after = await changes.keep(content, before.kind === "file" ? before.mode : undefined);
  await changes.record([...foldersMade(made), { file: real, before, after }]);
}

/**
 * Records that these files, symbolic links and folders are about to be deleted; each folder comes after its content.
 */
export async function recordRemoval({ access }: ToolContext, gone: readonly Changing[]): Promise<void> {
  const changes = access?.changes;
  if (!changes) return;
  const files: ChangedFile[] = [];
  for (const { real, at } of gone) files.push({ file: real, before: await changes.version(at(), real), after: ABSENT });
  await changes.record(files);
}

/** Records that a file or a folder, with everything in it, is about to get another path. */
export async function recordMove(
  { access }: ToolContext,
  { from, to, inside }: Readonly<{ from: ContainedPath; to: ContainedPath; inside: readonly Changing[] }>,
): Promise<void> {
  const changes = access?.changes;
  if (!changes) return;
  const replaced = await changes.version(to.at(), to.real);
  const [left, arrived]: [ChangedFile[], ChangedFile[]] = [[], []];
  for (const { real, at } of [from, ...inside]) {
    const version = await changes.version(at(), real);
    left.unshift({ file: real, before: version, after: ABSENT });
    const target = real === from.real ? to.real : join(to.real, real.slice(from.real.length));
    arrived.push({ file: target, before: real === from.real ? replaced : ABSENT, after: version });
  }
  await changes.record([...foldersMade(to.made), ...arrived, ...left]);
}

function foldersMade(folders: readonly string[]): ChangedFile[] {
  return [...folders]
    .toSorted((a, b) => dirname(a).length - dirname(b).length)
    .map((file) => ({ file, before: ABSENT, after: { kind: "folder" } }));
}
