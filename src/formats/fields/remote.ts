import { isRecord } from "../../core/text/json.ts";
import { type KeyReader, put } from "./draft.ts";
import { bad } from "./rules.ts";

/** An agent that runs elsewhere: `{ cardUrl, cardJson, auth }`. */
export const remote: KeyReader = (draft, value, key) => {
  if (!isRecord(value)) return bad(draft, key, "{ cardUrl, cardJson, auth }");
  const { cardUrl, cardJson, auth } = value;
  if (typeof cardUrl !== "string" && typeof cardJson !== "string") return bad(draft, key, "an object with a cardUrl");
  const card = {
    ...(typeof cardUrl === "string" ? { cardUrl } : {}),
    ...(typeof cardJson === "string" ? { cardJson } : {}),
    ...(isRecord(auth) ? { auth } : {}),
  };
  put(draft, "remote", card, key);
};
