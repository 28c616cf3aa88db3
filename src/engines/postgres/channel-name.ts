import { createHash } from "node:crypto";

/** The longest name of a channel that Postgres takes is 63 bytes. */
const LONGEST = 50;

/** The channel on which something about a run or a process is announced. */
export function channelName(kind: "run" | "commands" | "process", id: string): string {
  const short =
    /^[\w.-]*$/.test(id) && id.length <= LONGEST ? id : createHash("sha256").update(id).digest("hex").slice(0, 40);
  return `sc_${kind.slice(0, 1)}_${short}`;
}

/** The channel on which changes of the table of processes are announced. */
export const PROCESSES_CHANNEL = "sc_processes";
