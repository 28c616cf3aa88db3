import { isPrivateWay } from "../../core/net/loopback-host.ts";
import { asFetch } from "../../runtime/network/guarded-fetch-for-libraries.ts";
import type { GuardedOpen } from "../../runtime/network/guarded-request.ts";
import { webRefusal } from "../../runtime/network/web-target.ts";

export type AuthWay = Readonly<{
  open: GuardedOpen;
  /**
   * The address that the user configured, which may be on this machine. Addresses that a server names may not be on
   * this machine.
   */
  own?: URL;
  signal: AbortSignal;
}>;

/** The maximum size of a response during a login. */
const MOST_BYTES = 1_000_000;

/**
 * Requests to authorization servers that obey the network rules. Codes, tokens and secrets are sent only over https and
 * never to another origin.
 */
export function authFetch({ open, own, signal }: AuthWay): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    if (!isPrivateWay(url)) throw webRefusal("SCHEME", `${url.host} does not use https, so it is not used for a login`);
    const guarded = asFetch(open, {
      maxBytes: MOST_BYTES,
      ...(own && { allowHosts: [hostOf(own)] }),
      check: (next) => {
        if (new URL(next).origin !== url.origin)
          throw webRefusal("REDIRECT", `${url.host} redirected to another server, which is not followed for a login`);
      },
    });
    return guarded(url, { ...init, signal: init.signal ?? signal });
  };
}

/** The host and port of a URL, as the network rules write them. */
export const hostOf = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
