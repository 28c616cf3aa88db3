import { createHash } from "node:crypto";

/** The longest name of a channel that Postgres takes is 63 bytes. */
const LONGEST = 50;

/** The notification channel of a run or a process. */
export function channelName(kind: "run" | "commands" | "process", id: string): string {
  const short =
    /^[\w.-]*$/.test(id) && id.length <= LONGEST ? id : createHash("sha256").update(id).digest("hex").slice(0, 40);
  return `sc_${kind.slice(0, 1)}_${short}`;
}

/** The notification channel for changes of the table of processes. */
export const PROCESSES_CHANNEL = "sc_processes";
