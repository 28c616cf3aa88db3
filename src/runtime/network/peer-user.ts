import type { Socket } from "node:net";
import { readRegularTextSync } from "../disk/regular-file.ts";

/** One end of a connection, in the form in which `/proc/net/tcp` and `/proc/net/tcp6` list it. */
type Ends = Readonly<{ local: string; remote: string; state: string; user: number }>;

const ESTABLISHED = "01";
const LISTENS = "0A";

/**
 * The id of the user whose process is at the other end of a loopback connection. `"unknown"`: the process has gone;
 * `undefined`: this system does not provide the information.
 */
export function peerUser({
  remoteAddress = "",
  remotePort = 0,
  localPort = 0,
}: Socket): number | "unknown" | undefined {
  const table = [...ends("/proc/net/tcp"), ...ends("/proc/net/tcp6")];
  const ours = `:${hex(localPort)}`;
  if (!table.some(({ local, state }) => state === LISTENS && local.endsWith(ours))) return undefined;
  const theirs = `:${hex(remotePort)}`;
  const found = table.filter(
    ({ local, remote, state }) => state === ESTABLISHED && local.endsWith(theirs) && remote.endsWith(ours),
  );
  const users = new Set(found.filter(({ local }) => sameAddress(local, remoteAddress)).map(({ user }) => user));
  return users.size === 1 ? [...users][0]! : "unknown";
}

function ends(file: string): Ends[] {
  try {
    return readRegularTextSync(file)
      .split("\n")
      .slice(1)
      .flatMap((line) => {
        const [, local, remote, state, , , , user] = line.trim().split(/\s+/);
        return local && remote && state ? [{ local, remote, state, user: Number(user) }] : [];
      });
  } catch {
    return [];
  }
}

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");

/**
 * True if an entry of the kernel's socket table has this IPv4 address. An entry of an IPv6 socket ends with the IPv4
 * address; its bytes are in the byte order of the machine.
 */
function sameAddress(local: string, address: string): boolean {
  const bytes = address
    .replace(/^::ffff:/, "")
    .split(".")
    .map((part) => Number(part).toString(16).toUpperCase().padStart(2, "0"));
  const host = local.split(":")[0] ?? "";
  return bytes.length === 4 && [bytes.join(""), bytes.toReversed().join("")].some((text) => host.endsWith(text));
}
