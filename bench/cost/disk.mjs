// @ts-check
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = 300;

/**
 * Measures how many milliseconds the file system needs for a folder with two files, as a run creates them. On ext4
 * without a journal it is a tenth of a millisecond, and up to three milliseconds for five minutes after many files were
 * deleted there: the kernel searches for a file number that was not freed recently.
 *
 * @param {string} root
 */
export function folderCost(root) {
  const began = performance.now();
  for (let n = 0; n < FOLDERS; n += 1) {
    const folder = join(root, `disk-${n}`);
    mkdirSync(folder);
    for (const name of ["a", "b"]) writeFileSync(join(folder, name), "");
  }
  return (performance.now() - began) / FOLDERS;
}
