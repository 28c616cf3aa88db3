/**
 * One range of addresses that must not be reached, as bits: written independently of the program, from the IANA
 * registries.
 */
export type Range = Readonly<{ bits: string; family: 4 | 6 }>;

const range4 = (text: string): Range => {
  const [network, prefix] = text.split("/") as [string, string];
  const bits = network
    .split(".")
    .map((part) => Number(part).toString(2).padStart(8, "0"))
    .join("");
  return { bits: bits.slice(0, Number(prefix)), family: 4 };
};

const range6 = (hex: string, prefix: number): Range => {
  const bits = Array.from(hex.padEnd(32, "0"), (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join(
    "",
  );
  return { bits: bits.slice(0, prefix), family: 6 };
};

export const special: readonly Range[] = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"].map(
    range4,
  ),
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"].map(
    range4,
  ),
  ...["224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32"].map(range4),
  range6("", 8), // the addresses ::/8: unspecified, loopback, IPv4-compatible, IPv4-mapped and IPv4-translated
  range6("0064ff9b", 96), // addresses of NAT64, which contain an IPv4 address
  range6("0064ff9b0001", 48),
  range6("0100", 64), // addresses whose packets are discarded
  range6("2001", 23), // addresses of Teredo and ORCHID, and for benchmarks
  range6("20010db8", 32),
  range6("2002", 16), // addresses of 6to4, which contain an IPv4 address
  range6("3fff", 20),
  range6("5f00", 16),
  range6("fc00", 7),
  range6("fe80", 10),
  range6("fec0", 10),
  range6("ff00", 8),
];

/** The number of an address as bits. */
export const bitsOf = (value: bigint, family: 4 | 6): string =>
  value.toString(2).padStart(family === 4 ? 32 : 128, "0");

/** The entry of the registries for an address; of IPv6 only 2000::/3 is allocated at all. */
export function isSpecial(value: bigint, family: 4 | 6): boolean {
  const bits = bitsOf(value, family);
  if (family === 6 && !bits.startsWith("001")) return true;
  return special.some((one) => one.family === family && bits.startsWith(one.bits));
}

/** The ways in which a URL can spell an IPv4 address. */
export function spellings4(value: bigint, choice: number): string {
  const parts = [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n);
  const [a, b, c, d] = parts as [bigint, bigint, bigint, bigint];
  const dotted = parts.join(".");
  const forms: (() => string)[] = [
    () => dotted,
    () => `${dotted}.`,
    () => String(value),
    () => `0x${value.toString(16)}`,
    () => `0X${value.toString(16).toUpperCase()}`,
    () => `0${value.toString(8)}`,
    () => `000${value.toString(8)}.`,
    () => `${a}.${value & 0xff_ff_ffn}`,
    () => `${a}.${b}.${value & 0xff_ffn}`,
    () => parts.map((part) => `0x${part.toString(16)}`).join("."),
    () => parts.map((part) => `0x000${part.toString(16)}`).join("."),
    () => parts.map((part) => `0${part.toString(8)}`).join("."),
    () => `0x${a.toString(16)}.0${b.toString(8)}.${(c << 8n) | d}`,
    () => percent(dotted),
    () => percent(String(value)),
    () => dotted.replaceAll(".", "。"),
    () => dotted.replaceAll(".", "%E3%80%82"),
    () => wide(dotted),
    () => `[::ffff:${dotted}]`,
    () => `[::${dotted}]`,
    () => `[64:ff9b::${dotted}]`,
    () => `[::ffff:0:${dotted}]`,
    () => `[2002:${hex4(value)}::1]`,
    () => `[0:0:0:0:0:FFFF:${hex4(value)}]`,
    () => `user@${dotted}`,
    () => `example.com%40${dotted}`,
  ];
  return forms[choice % forms.length]!();
}

export const SPELLINGS = 26;

/** A full or shortened way to write an IPv6 address. */
export function spelling6(value: bigint, choice: number): string {
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt((7 - at) * 16)) & 0xff_ffn).toString(16));
  const forms = [
    groups.join(":"),
    groups.map((group) => group.padStart(4, "0")).join(":"),
    groups.join(":").toUpperCase(),
    groups.join(":").replace(/(?:^|:)0(?::0)+(?:$|:)/, "::"),
    `${groups.slice(0, 6).join(":")}:${Number.parseInt(groups[6]!, 16) >> 8}.${Number.parseInt(groups[6]!, 16) & 255}.${Number.parseInt(groups[7]!, 16) >> 8}.${Number.parseInt(groups[7]!, 16) & 255}`,
  ];
  return `[${forms[choice % forms.length]!}]`;
}

const percent = (text: string): string => Array.from(text, (char) => `%${char.charCodeAt(0).toString(16)}`).join("");
const wide = (text: string): string =>
  Array.from(text, (char) => (char === "." ? "．" : String.fromCharCode(char.charCodeAt(0) + 0xfee0))).join("");
const hex4 = (value: bigint): string => `${(value >> 16n).toString(16)}:${(value & 0xff_ffn).toString(16)}`;
