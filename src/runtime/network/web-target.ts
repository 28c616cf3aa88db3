import { isIP } from "node:net";
import { CrewError } from "../../core/schema/error.ts";
import { quoted } from "../files/open-contained.ts";
import { isMetadataAddress, specialAddress } from "./address-class.ts";

/** A URL that is allowed judging by its text; the addresses of a host name are checked when it is resolved. */
export type Target = Readonly<{
  url: URL;
  /** The host: a name without its last dot, or an address without brackets. */
  host: string;
  /** True: the user's list names exactly this host and port. */
  allowed: boolean;
}>;

/** The hosts that the user allows, as normalised `host:port`. */
export type AllowedHosts = ReadonlySet<string>;

/** Why a request was refused. The codes are stable; the text is for the caller. */
export type WebRefusal = Error & { readonly code: WebRefusalCode };
export type WebRefusalCode = "SCHEME" | "URL" | "LOGIN" | "HOST" | "ADDRESS" | "PORT" | "HEADER" | "REDIRECT";

export function webRefusal(code: WebRefusalCode, message: string): WebRefusal {
  return Object.assign(new Error(message), { name: "Refusal", code });
}

/**
 * Judges an address by its text, before anything is resolved or connected. Every spelling of an IP address (decimal,
 * octal, hex, short, percent-encoded) is the same address after parsing, and this parsed form is used.
 */
export function judgeUrl(text: string, allow: AllowedHosts): Target {
  const url = parsed(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw webRefusal("SCHEME", `${quoted(text)} is not on the web: only http and https addresses can be requested`);
  }
  if (url.username !== "" || url.password !== "") {
    throw webRefusal(
      "LOGIN",
      "an address must not hold a user name or password: send them as a header if this is intended",
    );
  }
  url.hash = "";
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "" || host.endsWith(".")) throw webRefusal("URL", `${quoted(text)} has no host`);
  if (url.hostname.endsWith(".")) url.hostname = host;
  const allowed = allow.has(`${url.hostname}:${portOf(url)}`);
  judgeHost(host, allowed);
  if (!allowed && !isWebPort(portOf(url))) {
    throw webRefusal("PORT", `port ${portOf(url)} is not a web server port, so it is not contacted`);
  }
  return { url, host, allowed };
}

/** Throws unless an address that a name was resolved to, or that was connected to, is on the public internet. */
export function judgeAddress(address: string, { host, allowed }: Pick<Target, "host" | "allowed">): void {
  if (isMetadataAddress(address)) throw metadataRefusal();
  const special = allowed ? undefined : specialAddress(address);
  if (special === undefined) return;
  const subject = isIP(host) === 0 ? `${quoted(host)} resolves to` : `${quoted(host)} is`;
  throw webRefusal(
    "ADDRESS",
    `${subject} ${special}: only addresses of the public internet can be requested, unless the user allows this host`,
  );
}

/** The addresses that the user allows although they are blocked by default. Each has exactly one host and one port. */
export function parseAllowedHosts(entries: readonly string[]): AllowedHosts {
  return new Set(entries.map(allowedHost));
}

function allowedHost(entry: string): string {
  const url = URL.canParse(`http://${entry}`) ? new URL(`http://${entry}`) : undefined;
  const port = /:(\d{1,5})$/.exec(entry)?.[1];
  const plain = url && url.pathname === "/" && !/[\s/?#@*\\%]/.test(entry) && url.hostname !== "";
  if (!plain || port === undefined || Number(port) < 1) {
    throw new CrewError(
      "BAD_INPUT",
      `"${entry}" is not a host that can be allowed.`,
      "Write the host and its port, such as 127.0.0.1:8080 or wiki.example:443.",
    );
  }
  return `${url.hostname.replace(/\.$/, "")}:${Number(port)}`;
}

function parsed(text: string): URL {
  if (text.length > LONGEST_URL) throw webRefusal("URL", `the address is longer than ${LONGEST_URL} characters`);
  try {
    return new URL(text);
  } catch {
    throw webRefusal(
      "URL",
      `${quoted(text)} is not a complete web address: write it with https:// or http:// and a host`,
    );
  }
}

function judgeHost(host: string, allowed: boolean): void {
  const name = host.toLowerCase();
  if (METADATA_NAMES.has(name)) throw metadataRefusal();
  if (isIP(host) !== 0) return judgeAddress(host, { host, allowed });
  if (!allowed && (name === "localhost" || name.endsWith(".localhost"))) {
    throw webRefusal(
      "ADDRESS",
      `${quoted(host)} is this machine: only hosts of the public internet can be requested, unless the user allows this one`,
    );
  }
}

function metadataRefusal(): WebRefusal {
  return webRefusal("ADDRESS", "this is a cloud metadata service that hands out credentials: it is never contacted");
}

const portOf = (url: URL): number => Number(url.port || (url.protocol === "https:" ? 443 : 80));

/**
 * True for ports of web servers. Low ports and some high ports belong to other services, which could misinterpret an
 * HTTP request.
 */
const isWebPort = (port: number): boolean => port === 80 || port === 443 || (port >= 1024 && !OTHER_SERVICES.has(port));
const OTHER_SERVICES: ReadonlySet<number> = new Set(
  "1719 1720 1723 2049 2375 2376 3306 3659 4045 4190 5060 5061 5432 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 9200 9300 10080 11211 27017"
    .split(" ")
    .map(Number),
);

const METADATA_NAMES: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "metadata.azure.internal",
  "metadata.tencentyun.com",
  "metadata.platformequinix.com",
  "instance-data",
  "instance-data.ec2.internal",
]);

const LONGEST_URL = 8_000;
