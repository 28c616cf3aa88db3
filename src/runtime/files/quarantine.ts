import { randomBytes } from "node:crypto";
import { rename } from "node:fs/promises";
import { relative } from "node:path";
import { rootOf } from "./open-contained.ts";
import { openContainedPath } from "./write-contained.ts";

/** What came into being although it is protected, and the harmless name it has now. */
export type QuarantinedFile = Readonly<{ place: string; now: string }>;

/** Gives protected things that a program made a name that nobody obeys. Nothing is lost: a person may have made them. */
export async function quarantine(root: string, paths: readonly string[]): Promise<QuarantinedFile[]> {
  const moved: QuarantinedFile[] = [];
  const top = await rootOf(root);
  for (const path of paths) {
    const spot = await openContainedPath(top, relative(root, path), { itself: true }).catch(() => undefined);
    if (spot === undefined) continue;
    const name = `${spot.name}.refused-${randomBytes(3).toString("hex")}`;
    const worked = await rename(spot.at(), spot.at(name)).then(
      () => true,
      () => false,
    );
    await spot.close();
    if (worked) moved.push({ place: spot.path, now: spot.path.slice(0, spot.path.length - spot.name.length) + name });
  }
  return moved;
}
