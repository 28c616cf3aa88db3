import { createPrivateKey, webcrypto } from "node:crypto";

type SigningAlgorithm = Readonly<{ name: string; hash?: string; namedCurve?: string }>;

/** How each kind of key signs. The curves have the names that Node uses. */
const ALGORITHMS: Readonly<Record<string, SigningAlgorithm>> = {
  "ec prime256v1": { name: "ECDSA", namedCurve: "P-256" },
  "ec secp384r1": { name: "ECDSA", namedCurve: "P-384" },
  "ec secp521r1": { name: "ECDSA", namedCurve: "P-521" },
  rsa: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  "rsa-pss": { name: "RSA-PSS", hash: "SHA-256" },
  ed25519: { name: "Ed25519" },
};

/** A private key in PEM form, ready to sign assertions. Throws a readable error that repeats nothing of the key. */
export async function signingKey(pem: string): Promise<CryptoKey> {
  const key = parsed(pem);
  const kind = key.asymmetricKeyType ?? "unknown";
  const curve = key.asymmetricKeyDetails?.namedCurve;
  const algorithm = ALGORITHMS[curve === undefined ? kind : `${kind} ${curve}`];
  if (!algorithm)
    throw new Error(`keys of the kind ${kind}${curve === undefined ? "" : ` ${curve}`} are not supported`);
  const bytes = key.export({ format: "der", type: "pkcs8" });
  return webcrypto.subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]);
}

function parsed(pem: string): ReturnType<typeof createPrivateKey> {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error("the file is not an unencrypted private key in PEM form");
  }
}
