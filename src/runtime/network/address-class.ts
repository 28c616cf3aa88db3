import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The kind of an address that does not belong to the public internet; `undefined` for a public address. */
export function specialAddress(address: string): string | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined) return "not a plain IP address";
  if (isOneOf(CLOUD_SERVICES, parsed)) return "an address of the cloud's own services";
  const range = parsed.range();
  if (publicRanges[parsed.kind()].has(range))
    return parsed.kind() === "ipv4" || parsed.match(GLOBAL_UNICAST) ? undefined : UNASSIGNED;
  return kinds[range] ?? UNASSIGNED;
}

/** True for the addresses at which clouds give credentials to programs. No setting can allow these addresses. */
export function isMetadataAddress(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && [parsed, ...innerAddresses(parsed)].some((each) => isOneOf(METADATA, each));
}

/**
 * The IPv4 addresses that an IPv6 one may lead to: in its last four bytes (mapped, translated, link-local), or after the
 * first two (6to4).
 */
function innerAddresses(address: Address): Address[] {
  const bytes = address.toByteArray();
  return bytes.length === 4 ? [] : [2, 12].map((at) => ipaddr.fromByteArray(bytes.slice(at, at + 4)));
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Parses an address in its plain spelling only: `ipaddr.parse` also accepts `127.1` and octal numbers. An address with
 * a zone is refused, because it is never an address of the public internet.
 */
function parseAddress(address: string): Address | undefined {
  return address.includes("%") || isIP(address) === 0 ? undefined : ipaddr.parse(address);
}

const isOneOf = (list: readonly string[], address: Address): boolean =>
  list.some((each) => each === address.toString());

const UNASSIGNED = "an address outside of the public range";

/** The range from which IANA assigns public IPv6 addresses. */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/**
 * The library's names of the address ranges that belong to the public internet. An address in any other range is
 * refused.
 */
const publicRanges: Readonly<Record<"ipv4" | "ipv6", ReadonlySet<string>>> = {
  ipv4: new Set(["unicast", "as112", "amt"]),
  ipv6: new Set(["unicast"]),
};

const IPV4_INSIDE = "an IPv4 address inside of an IPv6 one";

/** The name of each address range in errors; a range without a row is refused as well. */
const kinds: Readonly<Record<string, string>> = {
  loopback: "an address of this machine",
  unspecified: "an address of this machine",
  private: "a private address",
  uniqueLocal: "a private address",
  deprecatedSiteLocal: "a private address",
  linkLocal: "a link-local address",
  carrierGradeNat: "a carrier-grade NAT address",
  multicast: "a multicast address",
  broadcast: "a reserved address",
  reserved: "a reserved address",
  discard: "a reserved address",
  benchmarking: "a reserved address",
  amt: "a reserved address",
  as112v6: "a reserved address",
  orchid2: "a reserved address",
  deprecatedOrchid: "a reserved address",
  droneRemoteIdProtocolEntityTags: "a reserved address",
  segmentRouting: "a reserved address",
  teredo: IPV4_INSIDE,
  ipv4Mapped: IPV4_INSIDE,
  rfc6145: IPV4_INSIDE,
  rfc6052: IPV4_INSIDE,
  "6to4": IPV4_INSIDE,
};

/** Addresses that look public but are services of the cloud that the machine runs in. */
const CLOUD_SERVICES = ["168.63.129.16"];

const METADATA = [
  "169.254.169.254",
  "169.254.170.2",
  "169.254.170.23",
  "169.254.0.23",
  "168.63.129.16",
  "100.100.100.200",
  "100.96.0.96",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
];
