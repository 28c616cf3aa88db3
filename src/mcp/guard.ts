import { createHash, timingSafeEqual } from "node:crypto";

/** What a server on the network has to be told about who may ask it. */
export type GuardOptions = Readonly<{
  token: string;
  port: number;
  /** The names and addresses by which it may be called besides loopback. */
  hosts?: readonly string[];
}>;

export type Asked = Readonly<{
  host?: string | undefined;
  origin?: string | undefined;
  authorization?: string | undefined;
}>;

/** Why a request is refused, as a status; `undefined`: it may come in. */
export type Guard = (asked: Asked) => 401 | 403 | undefined;

/**
 * Judges requests before anything of them is read. A page in a browser can reach loopback under a name of its own, so
 * name and origin have to be ours; and another program of this machine can reach it anyway, so a secret is needed.
 */
export function createGuard({ token, port, hosts = [] }: GuardOptions): Guard {
  const names = [...LOOPBACK, ...hosts.map(bracketed)];
  const authorities = new Set(names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]));
  const wanted = digest(`Bearer ${token}`);
  return ({ host = "", origin, authorization = "" }) => {
    if (!authorities.has(host.toLowerCase())) return 403;
    if (origin !== undefined && !authorities.has(origin.toLowerCase().replace(/^https?:\/\//, ""))) return 403;
    return timingSafeEqual(digest(authorization), wanted) ? undefined : 401;
  };
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"] as const;

const bracketed = (host: string): string => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host).toLowerCase();

/** Of one length, so that comparing takes one time. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
