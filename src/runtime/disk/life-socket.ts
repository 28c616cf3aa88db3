import { constants } from "node:fs";
import { open, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { basename, dirname, join } from "node:path";

/** The longest path of a socket, in bytes; the system allows a few more. */
const MAX_PATH = 99;

/**
 * Listens on a socket beside a claim while this process holds the claim, so that a process of another pid namespace,
 * such as a container, can see that this process lives. Returns a function that closes the socket. Without an error on a
 * file system that has no sockets: there, processes of other namespaces count as alive.
 */
export async function openLifeSocket(claim: string): Promise<() => Promise<void>> {
  if (process.platform !== "linux") return async () => {};
  const file = socketOf(claim);
  try {
    const address = await addressOf(file);
    await rm(file, { force: true });
    const server = createServer((caller) => caller.destroy()).unref();
    await new Promise<void>((resolve) => {
      server.once("listening", resolve).on("error", () => resolve());
      server.listen(address.path);
    });
    return async () => {
      await new Promise((resolve) => server.close(resolve));
      await address.close();
      await rm(file, { force: true }).catch(() => {});
    };
  } catch {
    return async () => {};
  }
}

/**
 * Whether a process of this kernel listens on the socket of a claim. A refused connection means that the process is
 * dead; `unknown`: there is no socket, or this process may not connect to it.
 */
export async function probeLife(claim: string): Promise<"alive" | "dead" | "unknown"> {
  try {
    const address = await addressOf(socketOf(claim));
    try {
      return await new Promise((resolve) => {
        const call = connect(address.path);
        call.once("connect", () => resolve("alive"));
        call.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED" ? "dead" : "unknown"));
        call.once("close", () => resolve("unknown"));
        call.once("connect", () => call.destroy());
      });
    } finally {
      await address.close();
    }
  } catch {
    return "unknown";
  }
}

/** The socket beside a claim. */
export const socketOf = (claim: string): string => join(dirname(claim), `live.${basename(claim, ".json")}.sock`);

type Address = Readonly<{ path: string; close(): Promise<void> }>;

/** The path of a socket. A path that is too long for the system is shortened by an open folder. */
async function addressOf(file: string): Promise<Address> {
  if (Buffer.byteLength(file) <= MAX_PATH) return { path: file, close: async () => {} };
  const folder = await open(dirname(file), constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${folder.fd}/${basename(file)}`, close: () => folder.close() };
}
