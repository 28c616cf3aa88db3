import { isRecord } from "../../core/text/json.ts";
import { type KeyReader, put } from "./draft.ts";
import { bad } from "./rules.ts";

/** Reads a remote agent: `{ cardUrl, cardJson, auth, signedBy }`. */
export const remote: KeyReader = (draft, value, key) => {
  if (!isRecord(value)) return bad(draft, key, "{ cardUrl, cardJson, auth, signedBy }");
  const { cardUrl, cardJson, auth, signedBy } = value;
  if (signedBy !== undefined && !isKey(signedBy))
    return bad(draft, key, "an object whose signedBy is a public key in PEM form or an https address");
  if (typeof cardUrl !== "string" && typeof cardJson !== "string") return bad(draft, key, "an object with a cardUrl");
  const card = {
    ...(typeof cardUrl === "string" ? { cardUrl } : {}),
    ...(typeof cardJson === "string" ? { cardJson } : {}),
    ...(isRecord(auth) ? { auth } : {}),
    ...(isKey(signedBy) ? { signedBy } : {}),
  };
  put(draft, "remote", card, key);
};

const isKey = (value: unknown): value is string =>
  typeof value === "string" && (value.includes("-----BEGIN PUBLIC KEY-----") || /^https?:\/\/\S+$/.test(value));
