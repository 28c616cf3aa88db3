import { join } from "node:path";
import { defined } from "../../core/text/defined.ts";
import { alone } from "../../runtime/disk/file-lock.ts";
import { isFresh, type OAuthTokens } from "../../runtime/network/oauth.ts";
import { tokenFiles } from "../../runtime/network/token-files.ts";
import { type Login, type LoginNote, loginAddress, noteKey, parseNote, secretsOf } from "./login-note.ts";

/** The stored logins, in the user's own folder, by the address of the MCP server. */
export type Logins = Readonly<{
  look(url: string): Promise<LoginNote | undefined>;
  keep(url: string, login: Login, signal: AbortSignal): Promise<void>;
  /** Deletes a login and returns it. A record that there was a login remains. */
  forget(url: string, signal: AbortSignal): Promise<Login | undefined>;
  /** Records that the server refused the login, so that a new login is needed. */
  want(url: string, scope: string | undefined, signal: AbortSignal): Promise<void>;
  /**
   * Renews the access token and returns the login. Only one process requests it: a provider that sees a refresh token
   * twice revokes the login. Returns `undefined` when a new login is needed.
   */
  renew(url: string, refused: string | undefined, how: Renewal, signal: AbortSignal): Promise<Login | undefined>;
}>;

/** Refreshes the tokens; `undefined` when the refresh token is no longer accepted. */
export type Renewal = (login: Login) => Promise<OAuthTokens | undefined>;

export type LoginParts = Readonly<{
  /** Subcrew's state folder; without it no logins are stored. */
  home: string | undefined;
  /** Receives every secret before it is used, for redaction. */
  learn(secrets: readonly string[]): void;
  clock?(): number;
}>;

export function openLogins({ home, learn, clock = Date.now }: LoginParts): Logins {
  const folder = home === undefined ? undefined : join(home, "mcp-logins");
  const files = folder === undefined ? undefined : tokenFiles(folder);
  let last: Promise<unknown> = Promise.resolve();

  const read = async (address: string): Promise<LoginNote | undefined> => {
    const note = parseNote(await files?.read(noteKey(address)), address);
    if (note?.login) learn(secretsOf(note.login));
    return note;
  };
  /** Makes changes to a stored login one at a time: in a queue within this process, by a lock between processes. */
  const change = <T>(
    url: string,
    signal: AbortSignal,
    make: (note: LoginNote | undefined, write: (note: Omit<LoginNote, "url">) => Promise<void>) => Promise<T>,
  ): Promise<T | undefined> => {
    if (!files || folder === undefined) return Promise.resolve(undefined);
    const address = loginAddress(url);
    const write = async (note: Omit<LoginNote, "url">): Promise<void> => {
      if (note.login) learn(secretsOf(note.login));
      await files.write(noteKey(address), { version: 1, url: address, ...note });
    };
    const work = (): Promise<T> =>
      alone(join(folder, `${noteKey(address)}.lock`), async () => make(await read(address), write), signal);
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };

  return {
    look: (url) => read(loginAddress(url)),
    keep: (url, login, signal) => change(url, signal, (_, write) => write({ login })),
    forget: (url, signal) =>
      change(url, signal, async (note, write) => {
        if (note?.login) await write({ wanted: {} });
        return note?.login;
      }),
    want: (url, scope, signal) =>
      change(url, signal, async (note, write) => {
        const wanted = { ...note?.wanted, ...defined({ scope }) };
        await write({ wanted, ...defined({ login: note?.login }) });
      }),
    renew: (url, refused, how, signal) =>
      change(url, signal, async (note, write) => {
        const login = note?.login;
        if (!login) return undefined;
        if (login.tokens.access !== refused && isFresh(login.tokens, clock())) return login; // another process has already renewed the token
        const tokens = login.tokens.refresh === undefined ? undefined : await how(login);
        const { wanted = {} } = note;
        const renewed = tokens && { ...login, tokens };
        await write(renewed ? { ...(note.wanted && { wanted }), login: renewed } : { wanted });
        return renewed;
      }),
  };
}
