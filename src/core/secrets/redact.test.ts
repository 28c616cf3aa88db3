import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
import { secretsIn } from "./secrets-in-settings.ts";
import { looksSecret, secretValues, spellingsOf } from "./spellings.ts";
import { createRedactor } from "./redact.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const CANARY = "c4nary/+VALUE with=signs";
const { text: redact, known, deep } = createRedactor([CANARY]);
const nothing = createRedactor([]);

describe("a known secret is removed in every encoding", () => {
  test.each<[string, string]>([
    ["raw", CANARY],
    ["base64", Buffer.from(CANARY).toString("base64")],
    ["base64url", Buffer.from(CANARY).toString("base64url")],
    ["base64 after a name", Buffer.from(`user:${CANARY}`).toString("base64")],
    ["base64 after two bytes, with more text behind", Buffer.from(`ab${CANARY}tail`).toString("base64")],
    ["percent-encoded", encodeURIComponent(CANARY)],
    ["percent-encoded in lower case", encodeURIComponent(CANARY).replace(/%../g, (code) => code.toLowerCase())],
    ["as form data", new URLSearchParams({ a: CANARY }).toString()],
    ["hex", Buffer.from(CANARY).toString("hex")],
    ["JSON", JSON.stringify({ a: CANARY })],
    ["JSON inside of JSON", JSON.stringify(JSON.stringify({ a: CANARY }))],
  ])("%s", (_, spelled) => {
    const shown = redact(`before ${spelled} after`);
    expect(shown).toContain("[redacted]");
    expect(shown.startsWith("before ") && shown.endsWith(" after")).toBe(true);
    for (const form of spellingsOf(CANARY)) expect(shown).not.toContain(form);
  });

  test("in any context, at every occurrence", () => {
    const secret = fc
      .string({ minLength: 8, maxLength: 40, unit: "grapheme" })
      .filter((text) => text.trim().length >= 8);
    fc.assert(
      fc.property(secret, fc.array(fc.string({ unit: "grapheme" })), fc.nat(20), (value, around, choice) => {
        const forms = spellingsOf(value);
        const shown = createRedactor([value]).known(around.join(forms[choice % forms.length]));
        for (const form of forms) expect(shown.includes(form) && !"[redacted]".includes(form)).toBe(false);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test("a key over several lines, also when it is indented", () => {
    const key = "first line of the key\nsecond line of the key\n";
    expect(createRedactor([key]).text(`  ${key.replace("\n", "\n    ")}`)).not.toMatch(/line of the key/);
  });

  test("the longer of two secrets wins, and short values are left alone", () => {
    expect(createRedactor(["abcdefgh", "abcdefghijkl"]).text("x abcdefghijkl y")).toEqual("x [redacted] y");
    expect(createRedactor(["short", ""]).text("a short text")).toEqual("a short text");
  });
});

describe("a string that looks like a secret is removed", () => {
  const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
  test.each([
    ["sk-proj-abcDEF1234567890abcd", "[redacted]"],
    ["sk-ant-api03-abcDEF_1234567890", "[redacted]"],
    ['"sk_live_4eC39HqLyjWDarjtT1zdp7dc"', '"[redacted]"'],
    ["text\\nsk-abcDEF1234567890abcd\\n", "text\\n[redacted]\\n"],
    ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"],
    ["github_pat_11ABCDEFG0abcdefghijkl_mnop", "[redacted]"],
    ["glpat-abcDEF1234567890xyz", "[redacted]"],
    ["AKIAIOSFODNN7EXAMPLE", "[redacted]"],
    ["xoxb-123456789012-abcdefGHIJ", "[redacted]"],
    ["AIzaSyA1234567890abcdefghijklmnopqrstuv", "[redacted]"],
    ["npm_abcdefghij0123456789abcdefghij012345", "[redacted]"],
    ["hf_abcdefghij0123456789ABCD", "[redacted]"],
    ["tvly-dev-abcdefghij0123456789", "[redacted]"],
    [`token ${jwt}.`, "token [redacted]."],
    ["Authorization: Bearer abc.DEF-123456789xyz", "Authorization: Bearer [redacted]"],
    ["authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted]"],
    ['{"authorization":"Bearer abcdefghijklmnop123"}', '{"authorization":"Bearer [redacted]"}'],
    ["x-api-key: abcdef0123456789abcd", "x-api-key: [redacted]"],
    ['{"apiKey": "abcdef0123456789abcd"}', '{"apiKey": "[redacted]"}'],
    ["X-Subscription-Token: BSAabcdef0123456789", "X-Subscription-Token: [redacted]"],
    ["https://user:hunter2@host.example/x", "https://[redacted]@host.example/x"],
    ["https://ghtoken@github.com/a/b.git", "https://[redacted]@github.com/a/b.git"],
    ["postgres://app:pw@db:5432/main", "postgres://[redacted]@db:5432/main"],
    [
      "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAabc\nabcdefghijklmnopqrstuvw\n-----END RSA PRIVATE KEY-----",
      "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----",
    ],
    [
      "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B\\n-----END PRIVATE KEY-----\\n",
      "-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----\\n",
    ],
  ])("%s", (given, wanted) => {
    expect(nothing.text(given)).toEqual(wanted);
    expect(nothing.known(given)).toEqual(given);
  });

  test.each([
    "sk-learn-pipelines-and-more",
    "Bearer authentication is described below",
    "the bearer of responsibilities",
    "see https://example.com/a?b=c@d and user@example.com",
    "ssh://git@github.com/a/b.git",
    "git@github.com:a/b.git",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "grep for -----BEGIN PRIVATE KEY----- in the sources",
    "task-list-and-some-longer-words-2024",
    "disk-usage-of-the-whole-machine-1234",
    "mapping eyJ to x",
    "api key: see the manual",
    "AKIAshort",
    "1.5:30 http://localhost:8080/path",
  ])("%s is not a secret", (given) => {
    expect(nothing.text(given)).toEqual(given);
  });
});

test("a value without secrets is returned as the same object, a value with secrets as a copy", () => {
  const plain = { type: "x", list: [1, { a: "some words" }], none: null };
  expect(deep(plain)).toBe(plain);
  const list = [{ a: "fine, really" }, { a: `has ${CANARY}` }];
  const shown = deep({ list, [CANARY]: 1 });
  expect(shown).toEqual({ list: [{ a: "fine, really" }, { a: "has [redacted]" }], "[redacted]": 1 });
  expect(shown.list[0]).toBe(list[0]);
  expect(list[1]).toEqual({ a: `has ${CANARY}` });
});

test("a very deeply nested value is searched, too", () => {
  let value: unknown = CANARY;
  for (let n = 0; n < 1_000; n += 1) value = [value];
  expect(JSON.stringify(deep(value))).not.toContain("c4nary");
});

test("redacting takes linear time for any text", () => {
  const many = createRedactor(Array.from({ length: 30 }, (_, n) => `secret-value-${n}-${"x".repeat(20)}`));
  const hostile = [
    "eyJ",
    "sk-",
    "sk-1",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "://",
    "http://a:",
    "Bearer ",
    "authorization: ",
    "x-a-",
    "-",
    "\\nsk-",
    "a",
    "secret-value-1",
    "AKIA",
    "\u00fc ",
    "The quick brown fox jumps over the lazy dog.\n",
  ];
  const redacted = (chars: number, piece: string) => {
    const text = piece.repeat(Math.ceil(chars / piece.length));
    return (): string => many.text(text);
  };
  for (const piece of hostile) {
    // Each small text is longer than any secret, so that no text consists of a secret alone.
    const cost = growth({ small: redacted(20_000, piece), large: redacted(200_000, piece), pieces: 10 });
    expect(cost, JSON.stringify(piece)).toBeLessThan(4);
  }
});

test("secrets are known by the names of their variables, and by the passwords in addresses", () => {
  const env = {
    ANTHROPIC_API_KEY: "value-of-anthropic",
    GITHUB_TOKEN: "value-of-github",
    DB_PASSWORD: "justletters",
    AWS_SECRET_ACCESS_KEY: "value-of-aws",
    OPENAI_API_KEY_2: "value-of-second1",
    DATABASE_URL: "postgres://app:p%40ssw0rd-x@db/main",
    PATH: "/usr/bin:/bin",
    PWD: "/home/someone",
    TOKEN_TYPE: "standard",
    SSH_AUTH_SOCK: "/tmp/ssh-1234/agent",
    KEYBOARD_LAYOUT: "german-de",
    SHORT_KEY: "1234",
    EMPTY_KEY: undefined,
  };
  expect(secretValues(env)).toEqual([
    "value-of-anthropic",
    "value-of-github",
    "justletters",
    "value-of-aws",
    "value-of-second1",
    "p%40ssw0rd-x",
    "p@ssw0rd-x",
  ]);
  for (const name of [
    "API_KEY",
    "apiKey",
    "x-api-key",
    "MyToken",
    "PGPASSWORD_PASS",
    "authorization",
    "AZURE_CREDENTIALS",
  ])
    expect(looksSecret(name), name).toBe(true);
  for (const name of ["MONKEY", "PATH", "HOME", "XAUTHORITY", "TURKEY_DIR", "KEY_FILE", "privateKeyFile"])
    expect(looksSecret(name), name).toBe(false);
});

test("secrets of settings are known by their names, and by the variables and addresses that settings name", () => {
  const variables = { WORK: "value-of-work", SIDE: "value-of-side", ORG: "value-of-org", SHORT: "abc" };
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{ mine: { apiKey: "key-of-mine", baseURL: "https://x.example" } }, ["key-of-mine"]],
    [{ headers: { Authorization: "Bearer token-of-mine", "X-Title": "title-of-mine" } }, ["token-of-mine"]],
    [{ mine: { apiKeyEnv: "WORK" } }, ["value-of-work"]],
    [{ backend: "brave", keyEnv: "SIDE" }, ["value-of-side"]],
    [{ headers: { Authorization: "Bearer ${WORK}", "X-Org": "${ORG}" } }, ["value-of-work"]],
    [{ env: { API_KEY: "v1-${env:SIDE}", MODE: "${ORG}" } }, ["v1-value-of-side", "value-of-side"]],
    [{ env: { API_KEY: "${UNSET:-default-of-key}" } }, ["default-of-key"]],
    [
      { oauth: { clientId: "client-of-mine", clientSecret: "$WORK", privateKeyFile: "/keys/of/mine" } },
      ["value-of-work"],
    ],
    [
      { args: ["--api-key", "${WORK}", "--verbose", "--token=${SIDE}", "other-argument"] },
      ["value-of-work", "value-of-side"],
    ],
    [{ url: "https://x.example/mcp?token=token-0f-url&mode=everything" }, ["token-0f-url"]],
    [{ proxy: "http://me:p%40ssw0rd-x@proxy.example:8080" }, ["p%40ssw0rd-x", "p@ssw0rd-x"]],
    [{ env: { API_KEY: "${SHORT}" } }, []],
  ];
  for (const [settings, secrets] of cases) expect(secretsIn([settings], variables)).toEqual(secrets);
});

test("for text that is processed further, only known secrets are removed, not text that looks like a secret", () => {
  expect(known(`${CANARY} https://u:p@host/`)).toEqual("[redacted] https://u:p@host/");
});

test("a secret that is added later is removed by existing redactors, too", () => {
  const { text, known, deep, learn } = createRedactor(["first-secret"]);
  const said = "first-secret second-secret";
  expect(text(said)).toBe("[redacted] second-secret");
  learn(["second-secret", "short"]);
  expect([text(said), known(said), deep({ said })]).toEqual([
    "[redacted] [redacted]",
    "[redacted] [redacted]",
    { said: "[redacted] [redacted]" },
  ]);
  expect(text("short")).toBe("short");
});

describe("escaped forms of secrets are masked", () => {
  const secret = "pä$$w0rd/+key=Z9&x";
  const { known: mask } = createRedactor([secret]);
  const hexOf = (char: string, width: number): string => char.codePointAt(0)!.toString(16).padStart(width, "0");
  const names: Readonly<Record<string, string>> = {
    "/": "&sol;",
    "+": "&plus;",
    "=": "&equals;",
    "&": "&amp;",
    $: "&dollar;",
  };
  const escapes: readonly ((char: string) => string)[] = [
    (char) => char,
    (char) => encodeURIComponent(char).replace(/^[^%]$/, (plain) => `%${hexOf(plain, 2)}`),
    (char) => `%${hexOf(char, 2).toUpperCase()}`.replace("%E4", "%C3%A4"),
    (char) => `\\u${hexOf(char, 4)}`,
    (char) => `\\u{${hexOf(char, 1)}}`,
    (char) => `\\x${hexOf(char, 2)}`,
    (char) => `\\U${hexOf(char, 8)}`,
    (char) => `%u${hexOf(char, 4)}`,
    (char) => `&#${char.codePointAt(0)};`,
    (char) => `&#x${hexOf(char, 2)};`,
    (char) => `&#X${hexOf(char, 4).toUpperCase()};`,
    (char) => names[char] ?? char,
    (char) => (/\W/.test(char) && char.charCodeAt(0) < 128 ? `\\${char}` : char),
    (char) => `\\${char.codePointAt(0)!.toString(8).padStart(3, "0")}`,
  ];

  test("every escape by itself", () => {
    for (const [at, escape] of escapes.entries())
      expect(mask(`a ${Array.from(secret, escape).join("")} b`), `escape ${at}`).toBe("a [redacted] b");
  });

  test("any mixture of escapes, and no other text is lost", () => {
    const choice = fc.array(fc.nat(escapes.length - 1), { minLength: secret.length, maxLength: secret.length });
    fc.assert(
      fc.property(choice, fc.string(), fc.string(), (chosen, before, after) => {
        const text = Array.from(secret, (char, at) => escapes[chosen[at]!]!(char)).join("");
        const shown = mask(`${before.replace(/[%&\\#\d]/g, "")} ${text} ${after}`);
        expect(shown).toContain("[redacted]");
        expect(shown.startsWith(before.replace(/[%&\\#\d]/g, ""))).toBe(true);
        expect(shown.endsWith(` ${after}`)).toBe(true);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test("a text without the secret stays as it is, escapes and all", () => {
    const plain = "100%25 a\\u0041b &amp;&#65; C:\\101\\x41 %zz &unknown; \\u{110000000}";
    expect(mask(plain)).toBe(plain);
  });
});

describe("a known secret is masked also if it is encoded or divided", () => {
  const secret = `sEcr3t-Zq81/+kLm=${"aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY".repeat(3)}`;
  const { known: mask } = createRedactor([secret, "short-9x"]);
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const hex = (text: string): string => Buffer.from(text).toString("hex");
  const folded = (text: string, width: number, mark = "\n"): string =>
    text.replace(new RegExp(`.{${width}}(?!$)`, "g"), `$&${mark}`);

  test.each<[string, string]>([
    ["base64 in lines, as `base64` prints it", folded(base64(secret), 76)],
    ["base64 in lines of a mail", folded(base64(secret), 64, "\r\n")],
    ["base64 in lines, in JSON", folded(base64(secret), 76, "\\n")],
    ["base64 in indented lines", folded(base64(secret), 60, "\n    ")],
    ["base64 in the lines of a diff", folded(base64(secret), 60, "\n+")],
    ["base64 in numbered lines", folded(base64(secret), 60, "\n2\t")],
    ["hex in lines, as `xxd -p` prints it", folded(hex(secret), 60)],
    ["hex, byte by byte", folded(hex(secret), 2, " ")],
    ["hex, byte by byte, with colons", folded(hex(secret), 2, ":")],
    ["hex as in source code", Array.from(Buffer.from(secret), (byte) => `0x${byte.toString(16)}`).join(", ")],
    ["as the JSON of a buffer", JSON.stringify(Array.from(Buffer.from(secret)))],
    ["plain in lines", folded(secret, 40)],
    ["plain in lines that continue", folded(secret, 40, "\\\n")],
    ["quoted-printable", folded(secret.replaceAll("=", "=3D"), 60, "=\n")],
    ["base64 in an address", encodeURIComponent(base64(secret))],
    ["base64 with two bytes per character", Buffer.from(secret, "utf16le").toString("base64")],
    ["with a colour in it", `${secret.slice(0, 20)}\x1b[31m${secret.slice(20)}`],
    ["with a character without width in it", `${secret.slice(0, 20)}\u200b${secret.slice(20)}`],
    ["with a soft hyphen in it", `${secret.slice(0, 20)}&shy;${secret.slice(20)}`],
    ["with padded entities", Array.from(secret, (char) => `&#x000000${hex(char)};`).join("")],
    ["a short one in base64", base64("short-9x")],
  ])("%s", (_, text) => {
    const shown = mask(`before ${text} after`);
    expect(shown).toMatch(/^before \S{0,3}\[redacted\]\S{0,12} after$/);
  });

  test("other text with the same forms stays as it is", () => {
    for (const text of [base64("nothing special here"), folded(hex("nothing special here"), 2, " "), "a\n+b\n2\tc"])
      expect(mask(text)).toBe(text);
  });
});

describe("a private key is masked to its end", () => {
  const hex = (code: number, width: number): string => code.toString(16).padStart(width, "0");
  const escapedBy = (text: string, spell: (code: number) => string): string =>
    Array.from(text, (each) => spell(each.charCodeAt(0))).join("");
  const line = "MIIEowIBAAKCAQEAabcdefghijklmnopqrstuvwxyz0123456789+/ABCDEFGHIJKL";
  const key = (lines: number): string => `-----BEGIN RSA PRIVATE KEY-----\n${`${line}\n`.repeat(lines)}`;

  test.each([1, 3, 500, 40_000])("a key of %i lines without an end marker", (lines) => {
    expect(nothing.text(`a\n${key(lines)}`)).toBe("a\n-----BEGIN RSA PRIVATE KEY-----[redacted]");
    expect(nothing.text(`${key(lines)}YWJj\nNow some prose follows.`)).toMatch(
      /KEY-----\[redacted\][\s\S]{0,3}Now some prose follows\.$/,
    );
  });

  test("a key on one line of a megabyte", () => {
    const shown = nothing.text(`-----BEGIN PRIVATE KEY-----\n${"QUJD".repeat(300_000)}`);
    expect(shown).toBe("-----BEGIN PRIVATE KEY-----[redacted]");
  });

  test.each<[string, (text: string) => string]>([
    ["with line separators of Unicode", (text) => text.replaceAll("\n", "\u2028")],
    ["with next line characters", (text) => text.replaceAll("\n", "\x85")],
    ["with HTML line breaks", (text) => text.replaceAll("\n", "<br>")],
    ["with self-closing HTML line breaks", (text) => text.replaceAll("\n", "<br />\n")],
    ["with line ends as \\u000a", (text) => text.replaceAll("\n", "\\u000a")],
    [
      "as read_file shows it",
      (text) =>
        text
          .split("\n")
          .map((each, at) => `${at + 1}\t${each}`)
          .join("\n"),
    ],
    [
      "as grep shows it",
      (text) =>
        text
          .split("\n")
          .map((each, at) => `src/key.pem:${at + 1}: ${each}`)
          .join("\n"),
    ],
    ["in a diff", (text) => text.replaceAll("\n", "\n+")],
    ["quoted", (text) => text.replaceAll("\n", "\n> ")],
    ["with carriage returns", (text) => text.replaceAll("\n", "\r\n")],
    ["in JSON", (text) => JSON.stringify({ key: text })],
    ["in JSON inside of JSON", (text) => JSON.stringify(JSON.stringify({ key: text }))],
    ["in a URL", (text) => encodeURIComponent(text)],
    [
      "with short lines",
      (text) => text.replace(/(\w{10})(?=\w)/g, (part) => (/BEGIN|PRIV/.test(part) ? part : `${part}\n`)),
    ],
    ["with markers in lower case", (text) => text.replace(/-----.*?-----/g, (mark) => mark.toLowerCase())],
    ["with markers in mixed case", (text) => text.replace("BEGIN RSA PRIVATE", "Begin rsa PrIvAtE")],
    ["with HTML entities for dashes", (text) => text.replaceAll("-", "&#45;")],
    ["with hexadecimal HTML entities for dashes", (text) => text.replaceAll("-", "&#x2D;")],
    ["with padded HTML entities for dashes", (text) => text.replaceAll("-", "&#0045;")],
    ["with named entities for dashes", (text) => text.replaceAll("-", "&hyphen;")],
    ["with percent-encoded dashes", (text) => text.replaceAll("-", "%2D").replaceAll(" ", "+")],
    ["with dashes as \\u002d", (text) => text.replaceAll("-", "\\u002d")],
    ["with dashes as \\x2d", (text) => text.replaceAll("-", "\\x2d")],
    ["with every character percent-encoded", (text) => escapedBy(text, (code) => `%${hex(code, 2)}`)],
    ["with every character as \\u0000", (text) => escapedBy(text, (code) => `\\u${hex(code, 4)}`)],
    ["with every character as \\u{0}", (text) => escapedBy(text, (code) => `\\u{${hex(code, 1)}}`)],
    ["with every character as \\x00", (text) => escapedBy(text, (code) => `\\x${hex(code, 2)}`)],
    ["with every character as an entity", (text) => escapedBy(text, (code) => `&#${code};`)],
    ["with every character as a hexadecimal entity", (text) => escapedBy(text, (code) => `&#x${hex(code, 2)};`)],
    [
      "with every character encoded in another way, and markers in lower case",
      (text) => {
        const ways = [(code: number) => `%${hex(code, 2)}`, (code: number) => `&#${code};`, String.fromCharCode];
        let at = 0;
        const lower = text.replace(/-----.*?-----/g, (mark) => mark.toLowerCase());
        return escapedBy(lower, (code) => ways[at++ % 3]!(code));
      },
    ],
    ["with a line of another program in it", (text) => `${text}npm warn: sk-learn is old (1 of 2)\n${text.slice(32)}`],
    ["with a masked secret and an empty line in it", (text) => `${text}[redacted]\n\n${text.slice(32)}`],
    ["with headers", (text) => text.replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n")],
  ])("%s", (_, spelled) => {
    const text = spelled(key(30));
    expect(nothing.text(text)).not.toMatch(/abcdefghij|ABCDEFGHIJ/);
    const left = nothing.text(text).replace(/^[^]*\[redacted\]/, "");
    expect(left.length).toBeLessThan(20);
  });

  test("texts that look like the beginning of many key markers are searched in linear time", () => {
    const took = (text: string): number => {
      const began = performance.now();
      nothing.text(text);
      return performance.now() - began;
    };
    for (const part of ["-----BEGIN ", "%2D", "&#45;", "-----BEGIN%20A%20", "\\u002d", "\\\\\\\\u", "&#x0000"])
      expect(took(part.repeat(200_000 / part.length)), part).toBeLessThan(2_000);
  });
});

test.each([
  ["at the end of a text", "the key is tulip-9f8e7d6c5b", "the key is [redacted]"],
  ["before three dots", "tulip-9f8e7d6..., next", "[redacted]..., next"],
  ["before an ellipsis", "tulip-9f8e7d6c \u2026", "[redacted] \u2026"],
  ["before a note about the cut", "tulip-9f8e7d6c5b\n[the rest was cut]", "[redacted]\n[the rest was cut]"],
  ["in base64", `dHVsaXAtOWY4ZTdkNmM1Y...`, "[redacted]..."],
  ["too short to be told from other text", "tulip-9f8e...", "tulip-9f8e..."],
  ["followed by other text, which is no cut", "tulip-9f8e7d6 and more", "tulip-9f8e7d6 and more"],
])("the beginning of a secret whose rest was cut off is masked: %s", (_, text, expected) => {
  const { text: whole, known } = createRedactor(["tulip-9f8e7d6c5b4a-longenough"]);
  expect([whole(text), known(text)]).toEqual([expected, expected]);
});
