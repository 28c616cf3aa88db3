// @ts-check
import { existsSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { crc32 } from "node:zlib";
import { PAUSE_FILE } from "./pause-file.mjs";

/**
 * Loaded before the command by scripts/code-cache.mjs: stores the compiled code of its scripts, with
 * a checksum before it, when the command ends.
 *
 * @type {Array<{ script: import("node:vm").Script, cacheFile: string }>}
 */
const scripts = [];
Object.assign(globalThis, { [Symbol.for("subcrew.scripts")]: scripts });
process.once("exit", () => {
  // The command changes these flags after a signal. Node accepts stored code only with the flags of its creation.
  for (const flag of ["--incremental-marking", "--memory-reducer", "--minor-gc-task", "--opt"])
    setFlagsFromString(flag);
  for (const { script, cacheFile } of scripts) {
    const code = script.createCachedData();
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(code));
    writeFileSync(cacheFile, Buffer.concat([checksum, code]));
  }
});
const waiting = setInterval(() => {
  if (!existsSync(PAUSE_FILE)) return;
  clearInterval(waiting);
  process.kill(process.pid, "SIGINT");
}, 20).unref();
