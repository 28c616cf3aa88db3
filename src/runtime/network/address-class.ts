import { BlockList, isIP } from "node:net";

/** What kind of address this is when it does not belong to the public internet; `undefined` for one that does. */
export function specialAddress(address: string): string | undefined {
  const family = familyOf(address);
  if (family === undefined) return "no plain address";
  const { closed, kinds, globalUnicast } = lists();
  const isClosed =
    closed[family].check(address, family) || (family === "ipv6" && !globalUnicast.check(address, family));
  if (!isClosed) return undefined;
  return kinds[family].find(([, list]) => list.check(address, family))?.[0] ?? "an address outside of the public range";
}

/** True for the addresses at which clouds hand out credentials; nobody can allow these. */
export function isMetadataAddress(address: string): boolean {
  const family = familyOf(address);
  return family !== undefined && lists().metadata[family].check(address, family);
}

type Family = "ipv4" | "ipv6";

/** An address with a zone is none that leads outside. */
function familyOf(address: string): Family | undefined {
  const version = address.includes("%") ? 0 : isIP(address);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}

type Range = readonly [network: string, prefix: number];

/**
 * The special-purpose registries of IANA, and more: every form in which an IPv6 address carries an IPv4 one is closed
 * as a whole, since what is inside decides where the packet goes.
 */
const ranges: Readonly<Record<string, readonly Range[]>> = {
  "an address of this machine": [
    ["127.0.0.0", 8],
    ["0.0.0.0", 8],
    ["::1", 128],
    ["::", 128],
  ],
  "a private address": [
    ["10.0.0.0", 8],
    ["172.16.0.0", 12],
    ["192.168.0.0", 16],
    ["fc00::", 7],
    ["fec0::", 10],
  ],
  "a link-local address": [
    ["169.254.0.0", 16],
    ["fe80::", 10],
  ],
  "an address behind a provider's translation": [["100.64.0.0", 10]],
  "an address of the cloud's own services": [["168.63.129.16", 32]],
  "a multicast address": [
    ["224.0.0.0", 4],
    ["ff00::", 8],
  ],
  "a reserved address": [
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["240.0.0.0", 4],
    ["100::", 64],
    ["2001::", 23],
    ["2001:db8::", 32],
    ["3fff::", 20],
  ],
  "an IPv4 address inside of an IPv6 one": [
    ["::", 96],
    ["::ffff:0:0", 96],
    ["::ffff:0:0:0", 96],
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
    ["2002::", 16],
  ],
};

const cloud: readonly Range[] = [
  ["169.254.169.254", 32],
  ["169.254.170.2", 32],
  ["169.254.170.23", 32],
  ["168.63.129.16", 32],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
  ["fd00:ec2::254", 128],
  ["fd00:ec2::23", 128],
  ["fd20:ce::254", 128],
];

type ByFamily<T> = Readonly<Record<Family, T>>;

/** Apart by family: a list that holds `::ffff:0:0/96` would also find every IPv4 address in it. */
const byFamily = <T>(make: (family: Family) => T): ByFamily<T> => ({ ipv4: make("ipv4"), ipv6: make("ipv6") });
const listOf = (rows: readonly Range[], family: Family): BlockList => {
  const list = new BlockList();
  for (const [network, prefix] of rows) if (familyOf(network) === family) list.addSubnet(network, prefix, family);
  return list;
};

/** The lists, made when the first address is judged: most runs judge none, and the lists cost as much as a start. */
const lists = once(() => ({
  closed: byFamily((family) => listOf(Object.values(ranges).flat(), family)),
  kinds: byFamily((family) =>
    Object.entries(ranges).map(([what, rows]): [string, BlockList] => [what, listOf(rows, family)]),
  ),
  metadata: byFamily((family) => listOf(cloud, family)),
  globalUnicast: listOf([["2000::", 3]], "ipv6"),
}));

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
