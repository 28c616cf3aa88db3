import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { CrewError } from "../core/schema/error.ts";
import { stableText } from "../core/text/stable-text.ts";

/** The private key with which an A2A server signs its agent cards. */
export type CardKey = Readonly<{
  key: KeyObject;
  alg: string;
  /** The key id: the thumbprint of the public key (RFC 7638). */
  kid: string;
  /** The public key, for clients that verify the signature. */
  jwk: Readonly<Record<string, unknown>>;
}>;

/** The signature algorithm of each kind of key, with the name of the curve in a JWK. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  "EC P-256": "ES256",
  "EC P-384": "ES384",
  "EC P-521": "ES512",
  "OKP Ed25519": "EdDSA",
  RSA: "RS256",
};

/** Reads a private key in PEM form. */
export function cardKey(pem: string): CardKey {
  try {
    const key = createPrivateKey(pem);
    const jwk = createPublicKey(key).export({ format: "jwk" });
    const alg = ALGORITHMS[[jwk["kty"], jwk["crv"]].filter(Boolean).join(" ")];
    if (alg === undefined) throw new Error("the key has an unsupported type");
    const kid = createHash("sha256").update(stableText(jwk)).digest("base64url");
    return { key, alg, kid, jwk: { ...jwk, kid, alg, use: "sig" } };
  } catch (cause) {
    throw new CrewError(
      "BAD_INPUT",
      "The key for signing agent cards cannot be used.",
      "Give an unencrypted private key in PEM form: EC (P-256, P-384, P-521), Ed25519 or RSA.",
      { cause },
    );
  }
}
