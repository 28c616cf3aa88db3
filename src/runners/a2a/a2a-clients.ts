import { createHash } from "node:crypto";
import { join } from "node:path";
import type { RemoteCard as RemotePlace } from "../../core/agent/agent.ts";
import { isCrewError, messageOf } from "../../core/schema/error.ts";
import { stableText } from "../../core/text/stable-text.ts";
import { type TokenFiles, tokenFiles } from "../../runtime/network/token-files.ts";
import { type CredentialParts, type Credentials, checked, createCredentials, signedFetch } from "./a2a-auth.ts";
import { remoteFailure } from "./a2a-fault.ts";
import type { SignIn } from "./a2a-oauth.ts";
import { checkSignature } from "./a2a-signature.ts";
import { type AgentCard, connectAgent, type RemoteClient, readCard, schemesOf } from "./a2a-sdk.ts";
import { parseJson } from "../../core/text/json.ts";

/**
 * Clients of remote agents, cached as long as the crew exists: each agent card is fetched once, and each token
 * requested once.
 */
export type RemoteClients = Readonly<{
  /** The credentials for the agent; throws when `auth` in the agent's file is not usable. */
  credentials(place: RemotePlace): Credentials | undefined;
  /** Opens a client whose requests go through this `fetch`. */
  open(place: RemotePlace, how: Omit<SignIn, "schemes">): Promise<RemoteClient>;
  /** Clears the cache of agent cards. */
  clear(): void;
}>;

export type RemoteClientParts = CredentialParts &
  Readonly<{ /** How long a cached agent card is valid. */ cardMs?: number; clock?(): number }>;

const CARD_MS = 10 * 60_000;
const WELL_KNOWN = ".well-known/agent-card.json";

export function createRemoteClients(parts: RemoteClientParts): RemoteClients {
  const { cardMs = CARD_MS, clock = Date.now } = parts;
  const cards = new Map<string, { card: Promise<AgentCard>; until: number }>();
  const known = new Map<string, Credentials>();
  const credentials = ({ auth, ...place }: RemotePlace): Credentials | undefined => {
    if (auth === undefined) return undefined;
    const key = keyOf({ ...place, auth });
    const made = known.get(key) ?? createCredentials(auth, parts);
    known.set(key, made);
    return made;
  };
  const cardOf = (place: RemotePlace, how: SignIn): Promise<AgentCard> => {
    const key = keyOf(place);
    const before = cards.get(key);
    if (before && before.until > clock()) return before.card;
    const card = fetchCard(place, how, credentials(place)).then(async (read) => {
      await checkSignature(read, place, how);
      return read;
    });
    cards.set(key, { card, until: clock() + cardMs });
    card.catch(() => cards.delete(key)); // the next request fetches the card again
    return card;
  };
  return {
    credentials,
    open: async (place, how) => {
      const card = await cardOf(place, how);
      const signed = signedFetch(how.fetch, credentials(place), { ...how, schemes: schemesOf(card) });
      const there = await connectAgent(card, signed).catch((error: unknown) => {
        if (isCrewError(error)) throw error;
        const why = error instanceof TypeError ? "one of its fields has the wrong type" : messageOf(error);
        const hint = "Only agents that support JSON-RPC or HTTP+JSON can be reached.";
        throw remoteFailure("REMOTE_CARD", `the agent card cannot be used: ${why}`, hint);
      });
      if (!/^https?:/.test(URL.canParse(there.card.url) ? new URL(there.card.url).protocol : ""))
        throw remoteFailure(
          "REMOTE_CARD",
          "the agent card names an address that is not http or https",
          "Ask the operator of the remote agent to correct this.",
        );
      return there;
    },
    clear: () => cards.clear(),
  };
}

const keyOf = (place: RemotePlace): string => createHash("sha256").update(stableText(place)).digest("hex");

/** The agent card, from the agent's file or from the card's address. The first request has no credentials. */
async function fetchCard(place: RemotePlace, how: SignIn, credentials: Credentials | undefined): Promise<AgentCard> {
  if (place.cardJson !== undefined) return validCard(parsed(place.cardJson, "the card in the agent's file"));
  const url = place.cardUrl ?? "";
  const at = url.endsWith(".json") ? [url] : [url, `${url.replace(/\/+$/, "")}/${WELL_KNOWN}`];
  let last: unknown;
  for (const address of at) {
    let found: unknown;
    try {
      found = parsed(await textAt(address, how, credentials), `the document at ${address}`);
    } catch (error) {
      if (last === undefined || !isMissing(error)) last = error;
      continue;
    }
    return validCard(found);
  }
  throw last;
}

/** Reads a card with the A2A library, which throws errors of many kinds for fields of other types. */
async function validCard(found: unknown): Promise<AgentCard> {
  try {
    return await readCard(found);
  } catch (error) {
    if (isCrewError(error)) throw error;
    const why = error instanceof TypeError ? "one of its fields has the wrong type" : messageOf(error);
    throw remoteFailure(
      "REMOTE_CARD",
      `the agent card is not valid: ${why}`,
      "Ask the operator of the remote agent to correct this.",
    );
  }
}

async function textAt(url: string, how: SignIn, credentials: Credentials | undefined): Promise<string> {
  const headers = { accept: "application/json", "a2a-version": "1.0" };
  const open = await how.fetch(url, { headers, signal: how.signal });
  if (open.ok || !credentials || (open.status !== 401 && open.status !== 403)) return (await checked(open)).text();
  await open.body?.cancel();
  return (await signedFetch(how.fetch, credentials, how)(url, { headers, signal: how.signal })).text();
}

function parsed(text: string, what: string): unknown {
  try {
    const value: unknown = parseJson(text);
    if (typeof value === "object" && value !== null && "name" in value) return value;
  } catch {
    // the invalid card is reported after this block
  }
  throw remoteFailure(
    "REMOTE_CARD",
    `${what} is not an agent card`,
    "Give the address of the agent's agent-card.json.",
  );
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "REMOTE_CARD";

/** The store of tokens below the crew's home. */
export const remoteTokens = (home: string): TokenFiles => tokenFiles(join(home, "a2a"));
