import { readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, parse, resolve, sep } from "node:path";

/** The real path: symbolic links in the existing part are resolved, and the rest is appended as written. */
export function realPathOf(path: string): string {
  const wanted = resolve(path);
  try {
    return realpathSync.native(wanted);
  } catch {
    return wanted === dirname(wanted)
      ? wanted
      : join(realPathOf(dirname(wanted)), wanted.slice(dirname(wanted).length));
  }
}

/**
 * The symbolic links through which a path leads, each with the real path of its folder. A program that replaces one of
 * these links decides where the path leads.
 */
export function linksOnTheWay(path: string): string[] {
  const links = new Set<string>();
  const steps = resolve(path).split(sep).filter(Boolean);
  let at = parse(resolve(path)).root;
  for (let step = steps.shift(); step !== undefined && links.size < MOST_LINKS; step = steps.shift()) {
    const next = join(at, step);
    const target = targetOf(next);
    if (target === undefined) at = next;
    else {
      links.add(next);
      steps.unshift(...target.split(sep).filter(Boolean));
      if (isAbsolute(target)) at = parse(target).root;
    }
  }
  return [...links];
}

/** The maximum number of links in a path that the kernel follows. */
const MOST_LINKS = 40;

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // not a link, or missing
  }
}
