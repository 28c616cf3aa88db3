import { readRegularTextSync } from "./regular-file.ts";

const MOST_ANCESTORS = 40;

/**
 * A variable from the environment of an ancestor process. Some programs start other programs with a stripped
 * environment; Linux shows the environment that each ancestor was started with.
 */
export function ancestorVariable(name: string, from: number = process.ppid): string | undefined {
  let pid = from;
  for (let count = 0; pid > 1 && count < MOST_ANCESTORS; count += 1) {
    try {
      const found = readRegularTextSync(`/proc/${pid}/environ`)
        .split("\0")
        .find((pair) => pair.startsWith(`${name}=`));
      if (found !== undefined) return found.slice(name.length + 1);
      // In this file, the name of a program may contain spaces and brackets; the parent is the second field after the
      // last bracket.
      const stat = readRegularTextSync(`/proc/${pid}/stat`);
      pid = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    } catch {
      return undefined; // another system, or a process of another user
    }
  }
  return undefined;
}
