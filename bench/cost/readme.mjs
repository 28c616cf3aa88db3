// @ts-check
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "..", "README.md");

/**
 * Replaces the text between the two comments with this name in the README.
 *
 * @param {string} name @param {string} text
 */
export function fill(name, text) {
  const [begin, end] = [`<!-- ${name}: written by the benchmark -->`, `<!-- /${name} -->`];
  const before = readFileSync(file, "utf8");
  const [from, to] = [before.indexOf(begin), before.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no comments that mark the place of ${name}`);
  writeFileSync(file, `${before.slice(0, from)}${begin}\n\n${text}\n\n${before.slice(to)}`);
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
export const markdownTable = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/**
 * A text about the circumstances of a measurement: versions, machine, load, disk and duration.
 *
 * @param {{ node: string, cores: number, cpu: string, load: number[], disk?: number, minutes: number }} of
 */
export const circumstances = ({ node, cores, cpu, load, disk, minutes }) =>
  `Node ${node}, ${cores} x ${cpu}; load before the benchmark ${(load[0] ?? 0).toFixed(1)}; ${disk === undefined ? "" : `creating a folder with two files takes ${disk.toFixed(2)} ms; `}duration ${minutes.toFixed(1)} minutes.`;
