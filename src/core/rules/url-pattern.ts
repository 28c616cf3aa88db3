import { textMatches } from "./glob.ts";

/**
 * Whether a URL fits a pattern: `https://example.com/*`, `https://*.example.com/api/*`, `example.com`, or
 * `domain:example.com`, as other programs write it. Host and scheme are compared as parsed, never as the beginning of a
 * text; a star in the host stands for subdomains, never for a part of a name. In a deny rule, a host also covers its
 * subdomains, and the path may use any encoding.
 */
export function urlMatches(pattern: string, url: string, as: "permission" | "ban" = "permission"): boolean {
  const wanted = parsePattern(pattern);
  const given = parseUrl(url);
  if (wanted === undefined || given === undefined) return as === "ban";
  if (wanted.scheme !== undefined && as === "permission" && wanted.scheme !== given.protocol.slice(0, -1)) return false;
  if (as === "permission" && (given.username !== "" || given.password !== "")) return false;
  if (wanted.port !== undefined ? wanted.port !== portOf(given) : as === "permission" && given.port !== "")
    return false;
  if (!hostMatches(wanted.host, given.hostname, as)) return false;
  return as === "ban" ? pathBanned(wanted.path, given) : textMatches(wanted.path, `${given.pathname}${given.search}`);
}

type Wanted = Readonly<{ scheme: string | undefined; host: string; port: string | undefined; path: string }>;

function parsePattern(pattern: string): Wanted | undefined {
  const parts = /^(?:(?:domain:)|(https?):\/\/)?(\*|(?:\*\.)?[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(\d+))?(\/.*)?$/i.exec(
    pattern.trim(),
  );
  if (parts === null) return undefined;
  const [, scheme, host = "", port, path = "/*"] = parts;
  return { scheme: scheme?.toLowerCase(), host: host.toLowerCase().replace(/\.$/, ""), port, path };
}

function parseUrl(url: string): URL | undefined {
  try {
    const parsed = new URL(url);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function hostMatches(wanted: string, given: string, as: "permission" | "ban"): boolean {
  const host = given.toLowerCase().replace(/\.$/, "");
  if (wanted === "*" || host === wanted) return true;
  if (wanted.startsWith("*.")) return host.endsWith(wanted.slice(1)) || (as === "ban" && host === wanted.slice(2));
  return as === "ban" && host.endsWith(`.${wanted}`);
}

/**
 * True for a path that a deny rule covers. A path can be encoded in many ways, so the rule covers every path that is
 * not plainly different.
 */
function pathBanned(path: string, given: URL): boolean {
  if (path === "/*" || path === "/") return true;
  const written = `${given.pathname}${given.search}`;
  return [written, decoded(written)].some(
    (each) =>
      textMatches(path.toLowerCase(), each.toLowerCase()) || textMatches(`${path.toLowerCase()}*`, each.toLowerCase()),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).replace(/\/{2,}/g, "/");
  } catch {
    return text;
  }
}

const portOf = ({ port, protocol }: URL): string => port || (protocol === "https:" ? "443" : "80");
