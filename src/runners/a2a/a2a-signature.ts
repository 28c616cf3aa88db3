import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import type { RemoteCard as RemotePlace } from "../../core/agent/agent.ts";
import { messageOf } from "../../core/schema/error.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { remoteFailure } from "./a2a-fault.ts";
import type { SignIn } from "./a2a-oauth.ts";
import { type AgentCard, canonicalCard } from "./a2a-sdk.ts";

/**
 * Checks the signature of a card. With `signedBy`, a valid signature of that key is required. Without it, a signature
 * whose key is at the origin of the card must be valid. Keys at other addresses prove nothing, so such signatures are
 * ignored.
 */
export async function checkSignature(card: AgentCard, place: RemotePlace, how: SignIn): Promise<void> {
  const { signedBy, cardUrl } = place;
  const signatures = (card.signatures ?? []).map(readSignature);
  const keys = new Map<string, Promise<readonly JsonWebKey[]>>();
  const keyAt = async (url: string, kid: string | undefined): Promise<KeyObject> => {
    const known = keys.get(url) ?? keysAt(url, how);
    keys.set(url, known);
    const found = (await known).find((key) => key["kid"] === kid);
    if (!found) throw new Error(`${url} has no key "${kid ?? ""}"`);
    return createPublicKey({ key: found, format: "jwk" });
  };
  const counting =
    signedBy !== undefined
      ? signatures
      : signatures.filter(({ jku }) => cardUrl !== undefined && isAtHome(jku, cardUrl));
  if (signedBy !== undefined && signatures.length === 0) throw refused("the card is not signed");
  if (counting.length === 0) return;
  const payload = Buffer.from(await canonicalCard(card)).toString("base64url");
  let why: unknown;
  for (const signature of counting) {
    try {
      const { kid, jku = "" } = signature;
      const key = signedBy === undefined ? await keyAt(jku, kid) : await namedKey(signedBy, (url) => keyAt(url, kid));
      if (isValid(signature, payload, key)) return;
    } catch (error) {
      why ??= error;
    }
  }
  throw refused(`the signature of the card is not valid${why === undefined ? "" : `: ${messageOf(why)}`}`);
}

const namedKey = async (signedBy: string, at: (url: string) => Promise<KeyObject>): Promise<KeyObject> =>
  signedBy.includes("-----BEGIN ") ? createPublicKey(signedBy) : at(signedBy);

type CardSignature = Readonly<{
  /** The signed header of the signature, in base64url. */
  header: string;
  signature: string;
  alg: string | undefined;
  kid: string | undefined;
  jku: string | undefined;
}>;

function readSignature({ protected: header, signature }: AgentCard["signatures"][number]): CardSignature {
  const said = parsedHeader(header);
  const text = (name: string): string | undefined => {
    const value = said[name];
    return typeof value === "string" ? value : undefined;
  };
  return { header, signature, alg: text("alg"), kid: text("kid"), jku: text("jku") };
}

function parsedHeader(header: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(Buffer.from(header, "base64url").toString());
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

type Scheme = Readonly<{ hash: string | null; type: string; padding?: number }>;

/** The supported algorithms (RFC 7518), each with its kind of key; none of them uses a shared secret. */
const SCHEMES: Readonly<Record<string, Scheme>> = {
  ES256: { hash: "sha256", type: "ec" },
  ES384: { hash: "sha384", type: "ec" },
  ES512: { hash: "sha512", type: "ec" },
  RS256: { hash: "sha256", type: "rsa" },
  RS384: { hash: "sha384", type: "rsa" },
  RS512: { hash: "sha512", type: "rsa" },
  PS256: { hash: "sha256", type: "rsa", padding: constants.RSA_PKCS1_PSS_PADDING },
  EdDSA: { hash: null, type: "ed25519" },
  Ed25519: { hash: null, type: "ed25519" },
};

function isValid({ header, signature, alg = "" }: CardSignature, payload: string, key: KeyObject): boolean {
  const scheme = Object.hasOwn(SCHEMES, alg) ? SCHEMES[alg] : undefined;
  if (!scheme || scheme.type !== key.asymmetricKeyType) throw new Error(`the algorithm "${alg}" does not fit the key`);
  const { hash, padding } = scheme;
  const how = { key, dsaEncoding: "ieee-p1363" as const, ...(padding !== undefined && { padding }) };
  return verify(hash, Buffer.from(`${header}.${payload}`), how, Buffer.from(signature, "base64url"));
}

const refused = (why: string): Error =>
  remoteFailure(
    "REMOTE_CARD",
    why,
    "Ask the owner of the agent for the right key (`signedBy`), or do not use this agent.",
  );

const isAtHome = (url: string | undefined, home: string): boolean =>
  url !== undefined && URL.canParse(url) && new URL(url).origin === new URL(home).origin;

const MOST_KEYS = 100;

async function keysAt(url: string, { fetch, signal }: SignIn): Promise<readonly JsonWebKey[]> {
  const answer = await fetch(url, { headers: { accept: "application/json" }, signal });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const value: unknown = await answer.json();
  const keys = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"] : [];
  return keys.filter(isRecord).slice(0, MOST_KEYS);
}
