import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** `full`: may start and change things. `read`: may only look. */
export type WebRole = "full" | "read";

/** The secrets of the page, kept in a file that only the user can read. */
export type WebSecrets = Readonly<{
  /**
   * The first part of the path of every page. A cookie of 127.0.0.1 is sent to all ports, but only below its own path.
   */
  prefix: string;
  /** The key that signs links and cookies. */
  key: string;
  /**
   * An id for this start of the server. It makes links and read-only sessions valid only until the server is started
   * again.
   */
  boot: string;
}>;

export const COOKIE = "subcrew";

/** How long a browser stays signed in. */
const SESSION_DAYS = 30;

/** Creates secrets. The secrets of an earlier server are kept, so that its browsers stay signed in. */
export function newSecrets(earlier?: Pick<WebSecrets, "prefix" | "key">): WebSecrets {
  return {
    prefix: earlier?.prefix ?? randomBytes(16).toString("base64url"),
    key: earlier?.key ?? randomBytes(32).toString("base64url"),
    boot: randomBytes(9).toString("base64url"),
  };
}

/** A token for a link. Every process that can read the secrets can make a token. */
export function linkToken({ key, boot }: WebSecrets, role: WebRole): string {
  return signed(key, "link", [role, boot, randomBytes(12).toString("base64url")]);
}

/** Checks sign-in links and cookies. */
export type Sessions = Readonly<{
  /**
   * Exchanges the token of a link for a cookie, or returns the reason for the refusal. A link with the role `full`
   * works once.
   */
  redeem(token: string): Readonly<{ cookie: string; role: WebRole }> | "unknown" | "used";
  /** The role that a link grants, whether or not it was used. */
  linkRole(token: string): WebRole | undefined;
  /** The role of the browser that sends these cookies. */
  roleOf(cookies: string | undefined): WebRole | undefined;
}>;

export function createSessions(secrets: WebSecrets): Sessions {
  const { key, boot, prefix } = secrets;
  const used = new Set<string>();
  return {
    linkRole: (token) => {
      const [role] = verified(key, "link", token) ?? [];
      return isRole(role) ? role : undefined;
    },
    redeem: (token) => {
      const [role, start, nonce] = verified(key, "link", token) ?? [];
      if (!isRole(role) || start !== boot || nonce === undefined) return "unknown";
      if (role === "full") {
        if (used.has(nonce)) return "used";
        used.add(nonce);
      }
      const value = signed(key, "session", [role, boot, randomBytes(12).toString("base64url")]);
      const age = role === "full" ? `; Max-Age=${SESSION_DAYS * 86_400}` : "";
      return { role, cookie: `${COOKIE}=${value}; Path=/${prefix}; HttpOnly; SameSite=Strict${age}` };
    },
    roleOf: (cookies = "") => {
      for (const part of cookies.split(";")) {
        const [name, value = ""] = part.trim().split("=", 2);
        if (name !== COOKIE) continue;
        const [role, start] = verified(key, "session", value) ?? [];
        if (role === "full" || (role === "read" && start === boot)) return role;
      }
      return undefined;
    },
  };
}

const isRole = (text: string | undefined): text is WebRole => text === "full" || text === "read";

function signed(key: string, use: string, parts: readonly string[]): string {
  const text = parts.join(".");
  return `${text}.${sign(key, use, text)}`;
}

function verified(key: string, use: string, token: string): readonly string[] | undefined {
  const cut = token.lastIndexOf(".");
  if (cut < 0 || token.length > 200) return undefined;
  const [given, wanted] = [Buffer.from(token.slice(cut + 1)), Buffer.from(sign(key, use, token.slice(0, cut)))];
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? token.slice(0, cut).split(".") : undefined;
}

const sign = (key: string, use: string, text: string): string =>
  createHmac("sha256", key).update(`${use}:${text}`).digest("base64url");
