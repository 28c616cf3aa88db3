import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bitsOf,
  isSpecial,
  SPELLINGS,
  special,
  spelling6,
  spellings4,
} from "../../../test/support/special-addresses.ts";
import { judgeAddress, judgeUrl, parseAllowedHosts } from "./web-target.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const nothing = parseAllowedHosts([]);

/** Whether the check of the text alone allows an address. */
const passes = (url: string, allow = nothing): boolean => {
  try {
    judgeUrl(url, allow);
    return true;
  } catch {
    return false;
  }
};

describe("an address in a URL is judged in any spelling", () => {
  const version4 = fc.bigInt({ min: 0n, max: 0xff_ff_ff_ffn });
  const version6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });
  /** Half of all addresses are from the special ranges, so that both results occur. */
  const inRange = (family: 4 | 6): fc.Arbitrary<bigint> =>
    fc
      .tuple(fc.constantFrom(...special.filter((range) => range.family === family)), family === 4 ? version4 : version6)
      .map(([{ bits }, tail]) => BigInt(`0b${bits}${bitsOf(tail, family).slice(bits.length)}`));

  test("a special IPv4 address is never allowed; a public IPv4 address is allowed when it is spelled normally", () => {
    fc.assert(
      fc.property(fc.oneof(version4, inRange(4)), fc.nat(SPELLINGS - 1), (value, choice) => {
        const spelled = spellings4(value, choice);
        const isPlain = !/[[@]|%40/.test(spelled);
        expect(passes(`http://${spelled}/`), spelled).toBe(isPlain && !isSpecial(value, 4));
      }),
      { numRuns: propertyRuns(20_000) },
    );
  });

  test("a special IPv6 address is never allowed, and a public IPv6 address is", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          version6,
          inRange(6),
          version6.map((value) => (value >> 3n) | (1n << 125n)),
        ),
        fc.nat(4),
        (value, choice) => {
          expect(passes(`https://${spelling6(value, choice)}/`), spelling6(value, choice)).toBe(!isSpecial(value, 6));
        },
      ),
      { numRuns: propertyRuns(10_000) },
    );
  });

  test("addresses that a name resolves to are checked like literal addresses", () => {
    fc.assert(
      fc.property(fc.oneof(version4, inRange(4)), (value) => {
        const judge = (): void => judgeAddress(spellings4(value, 0), { host: "some.example", allowed: false });
        if (isSpecial(value, 4)) expect(judge).toThrow(expect.objectContaining({ code: "ADDRESS" }));
        else judge();
      }),
      { numRuns: propertyRuns(5_000) },
    );
  });
});

test.each([
  ["file:///etc/passwd", "SCHEME"],
  ["ftp://example.com/x", "SCHEME"],
  ["gopher://example.com/", "SCHEME"],
  ["data:text/html,hi", "SCHEME"],
  ["javascript:alert(1)", "SCHEME"],
  ["blob:https://example.com/1", "SCHEME"],
  ["ws://example.com/", "SCHEME"],
  ["unix:/var/run/docker.sock", "SCHEME"],
  ["http+unix://%2Fvar%2Frun%2Fdocker.sock/x", "SCHEME"],
  ["example.com/path", "URL"],
  ["//example.com/", "URL"],
  ["", "URL"],
  ["http://", "URL"],
  ["http://exa mple.com/", "URL"],
  ["http://[fe80::1%25eth0]/", "URL"],
  ["http://a\0b.example/", "URL"],
  ["http://example.com../", "URL"],
  ["http://user:pw@example.com/", "LOGIN"],
  ["http://example.com@127.0.0.1/", "LOGIN"],
  ["http://localhost/", "ADDRESS"],
  ["http://LOCALHOST./", "ADDRESS"],
  ["http://app.localhost:8080/", "ADDRESS"],
  ["http://metadata.google.internal/computeMetadata/v1/", "ADDRESS"],
  ["http://127.1/", "ADDRESS"],
  ["http://0/", "ADDRESS"],
  ["http://[::]/", "ADDRESS"],
  ["http:\\\\127.0.0.1\\x", "ADDRESS"],
  ["http://①②⑦.0.0.1/", "ADDRESS"],
  ["http://example.com:22/", "PORT"],
  ["http://example.com:25/", "PORT"],
  ["https://example.com:6379/", "PORT"],
])("the URL %j is refused: %s", (url, code) => {
  expect(() => judgeUrl(url, nothing)).toThrow(expect.objectContaining({ name: "Refusal", code }));
});

test.each(["http://example.com/", "https://example.com:8443/a?b=c", "HTTPS://Example.COM./", "http://1.1.1.1/"])(
  "the URL %s is allowed",
  (url) => {
    expect(judgeUrl(url, nothing)).toMatchObject({ allowed: false });
  },
);

test("a host on the user's list is allowed exactly as written", () => {
  const allow = parseAllowedHosts(["127.0.0.1:8080", "[::1]:9000", "Wiki.corp:443", "intra.corp:25"]);
  for (const url of [
    "http://127.0.0.1:8080/x",
    "http://2130706433:8080/",
    "http://[0::1]:9000/",
    "https://wiki.corp./",
    "http://intra.corp:25/",
  ]) {
    expect(passes(url, allow), url).toBe(true);
  }
  for (const url of [
    "http://127.0.0.1/",
    "http://127.0.0.1:80801/",
    "http://127.0.0.1:8081/",
    "http://127.0.0.2:8080/",
    "http://[::1]:8080/",
    "http://127.0.0.1:8080@10.0.0.1/",
    "http://10.0.0.1/?127.0.0.1:8080",
    "http://[::ffff:127.0.0.1]:8080/",
  ]) {
    expect(passes(url, allow), url).toBe(false);
  }
  // A name that only resembles an allowed host is judged by its address, like any other.
  for (const url of [
    "https://wiki.corp.evil.example/",
    "https://xwiki.corp/",
    "https://wiki.corp:8443/",
    "http://wiki.corp/",
  ]) {
    expect(judgeUrl(url, allow)).toMatchObject({ allowed: false });
  }
});

test("cloud metadata services are never contacted, whatever is allowed", () => {
  const allow = parseAllowedHosts([
    "169.254.169.254:80",
    "[fd00:ec2::254]:80",
    "metadata.google.internal:80",
    "intra.corp:80",
  ]);
  for (const url of ["http://169.254.169.254/latest/", "http://[fd00:ec2::254]/", "http://metadata.google.internal/"])
    expect(passes(url, allow)).toBe(false);
  const target = judgeUrl("http://intra.corp/", allow);
  expect(() => judgeAddress("169.254.169.254", target)).toThrow("hands out credentials");
  judgeAddress("10.1.2.3", target);
});

test.each([
  "::ffff:169.254.169.254",
  "::ffff:0:a9fe:a9fe",
  "::169.254.169.254",
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::6464:64c8",
  "2002:a9fe:a9fe::1",
  "fe80::a9fe:a9fe",
  "169.254.0.23",
  "100.96.0.96",
])("a cloud metadata service behind the address %s is never contacted, whatever is allowed", (address) => {
  const host = address.includes(".") && !address.includes(":") ? address : `[${address}]`;
  const allow = parseAllowedHosts([`${host}:80`, "intra.corp:80"]);
  expect(() => judgeUrl(`http://${host}/`, allow)).toThrow("hands out credentials");
  expect(() => judgeAddress(address, judgeUrl("http://intra.corp/", allow))).toThrow("hands out credentials");
});

test("an address of IPv6 that only looks like one of a cloud metadata service can be allowed", () => {
  const allow = parseAllowedHosts(["[fd00::a9fe:a9fd]:80", "[::ffff:10.1.2.3]:80"]);
  for (const url of ["http://[fd00::a9fe:a9fd]/", "http://[::ffff:10.1.2.3]/"]) expect(passes(url, allow)).toBe(true);
});

test.each([
  "",
  "127.0.0.1",
  "localhost",
  "*:80",
  "*.corp:443",
  "a/b:80",
  "u@h:80",
  "http://h:80",
  "h:0",
  "h:99999",
  "[::1]",
  "h:80/x",
])("the entry %j is invalid in the user's list of allowed hosts", (entry) => {
  expect(() => parseAllowedHosts([entry])).toThrow(expect.objectContaining({ code: "BAD_INPUT" }));
});
