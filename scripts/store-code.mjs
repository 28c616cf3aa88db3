// @ts-check
import { writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";

/**
 * Loaded before the command by scripts/code-cache.mjs: stores the compiled code of its scripts, with
 * a checksum before it, when the command ends.
 *
 * @type {Array<{ script: import("node:vm").Script, cacheFile: string }>}
 */
const scripts = [];
Object.assign(globalThis, { [Symbol.for("subcrew.scripts")]: scripts });
process.once("exit", () => {
  for (const { script, cacheFile } of scripts) {
    const code = script.createCachedData();
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(code));
    writeFileSync(cacheFile, Buffer.concat([checksum, code]));
  }
});
