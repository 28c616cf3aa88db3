import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isCrewError } from "../core/schema/error.ts";
import type { Crew } from "../crew/crew-type.ts";
import { readRegularFile } from "../runtime/disk/regular-file.ts";
import { openServer, type RunningServer } from "../runtime/network/loopback-server.ts";
import { peerUser } from "../runtime/network/peer-user.ts";
import { createCostReader } from "./cost.ts";
import { Hub } from "./hub.ts";
import { sendError, sendJson, sendNotice, sendText } from "./responses.ts";
import { bodyOf, changes } from "./changes.ts";
import { looks, type WebContext } from "./routes.ts";
import { createSessions, type Sessions, type WebRole, type WebSecrets } from "./sessions.ts";

export type WebOptions = Readonly<{
  secrets: WebSecrets;
  port: number;
  /** The folder with the built page. */
  assets: string;
  /** The user id of the owner. Connections of other users are at most read-only. Absent on systems without user ids. */
  user: number | undefined;
  onError(error: unknown): void;
}> &
  Pick<WebContext, "crewAt" | "ownCommand">;

/** The files of the page, and their content types. */
const files: Readonly<Record<string, Readonly<{ file: string; type: string }>>> = {
  "": { file: "index.html", type: "text/html" },
  "app.js": { file: "app.js", type: "text/javascript" },
  "app.css": { file: "app.css", type: "text/css" },
  "icon.svg": { file: "icon.svg", type: "image/svg+xml" },
};

/** Serves the page on the loopback address. A browser that is not signed in gets no data. */
export async function openWeb(crew: Crew, options: WebOptions): Promise<RunningServer> {
  const { secrets, port, onError, crewAt, ownCommand } = options;
  const hub = await Hub.open(crew);
  const requests = new WebRequests({ crew, hub, cost: createCostReader(crew), crewAt, ownCommand }, options);
  const server = await openServer({
    port,
    tokens: {},
    isOpen: () => true, // the token check is off, because cookies decide about access
    isLink: ({ url = "", method }) => method === "GET" && url.startsWith(`/${secrets.prefix}/enter?`),
    handle: (request, response) => requests.handle(request, response),
    onError,
  }).catch((error: unknown) => {
    hub.close();
    throw error;
  });
  return {
    ...server,
    close: async () => {
      hub.close();
      await server.close();
    },
  };
}

/** One request of a browser: the part of the address behind the prefix, and what the browser may do. */
type Asked = Readonly<{ url: URL; path: string; role: WebRole }>;

/** Answers the requests of browsers, after their cookie or link was checked. */
class WebRequests {
  readonly #context: WebContext;
  readonly #options: WebOptions;
  readonly #prefix: string;
  readonly #sessions: Sessions;
  /** For each connection: whether it belongs to another user. */
  readonly #strangers = new WeakMap<Socket, boolean>();

  constructor(context: WebContext, options: WebOptions) {
    this.#context = context;
    this.#options = options;
    this.#prefix = `/${options.secrets.prefix}/`;
    this.#sessions = createSessions(options.secrets);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://here");
    if (!url.pathname.startsWith(this.#prefix))
      return sendNotice(response, 404, "Not found", "Open the link that <code>subcrew web</code> prints.");
    const path = url.pathname.slice(this.#prefix.length);
    if (path === "enter") return this.#enter(request, response, url);
    const role = this.#sessions.roleOf(request.headers.cookie);
    if (role === "full" && this.#isStranger(request)) return refuseStranger(response);
    if (role === undefined)
      return sendNotice(
        response,
        401,
        "Sign in",
        "Run <code>subcrew web</code> in a terminal and open the link that it prints.",
      );
    if (request.method === "POST") return this.#change(request, response, { url, path, role });
    if (request.method !== "GET")
      return sendNotice(response, 405, "Not allowed", "This address only accepts GET requests.");
    const asset = Object.hasOwn(files, path) ? files[path] : undefined;
    if (asset)
      return sendText(response, 200, asset.type, await readRegularFile(`${this.#options.assets}/${asset.file}`));
    if (path === "events") return connect(request, response, url, this.#context.hub);
    return this.#look(request, response, { url, path, role });
  }

  /**
   * True for a connection of another user of this machine, who must have got a link or cookie in some other way. False
   * for root, because root can read all files anyway.
   */
  #isStranger({ socket }: IncomingMessage): boolean {
    const known = this.#strangers.get(socket);
    if (known !== undefined) return known;
    const owner = this.#options.user;
    const user = owner === undefined ? undefined : peerUser(socket);
    const is = user !== undefined && user !== owner && user !== 0;
    this.#strangers.set(socket, is);
    return is;
  }

  /** Signs a browser in with the token of a link. */
  #enter(request: IncomingMessage, response: ServerResponse, url: URL): void {
    if (request.method !== "GET") return sendNotice(response, 405, "Not allowed", "Open the link in a browser.");
    const token = url.searchParams.get("token") ?? "";
    if (this.#sessions.linkRole(token) === "full" && this.#isStranger(request)) return refuseStranger(response);
    const session = this.#sessions.redeem(token);
    if (session === "used" && this.#sessions.roleOf(request.headers.cookie) === "full")
      return this.#moveOn(response, url);
    if (typeof session === "string")
      return sendNotice(
        response,
        401,
        session === "used" ? "This link was used" : "This link is not valid",
        "Run <code>subcrew web</code> again in a terminal to get a new link.",
      );
    this.#moveOn(response, url, session.cookie);
  }

  /**
   * Sends a page instead of a redirect: browsers do not send a strict cookie with a redirect that began on another
   * site.
   */
  #moveOn(response: ServerResponse, url: URL, cookie?: string): void {
    const cwd = url.searchParams.get("cwd");
    const to = cwd === null ? this.#prefix : `${this.#prefix}?${new URLSearchParams({ cwd }).toString()}`;
    sendText(
      response,
      200,
      "text/html",
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>subcrew</title><meta http-equiv="refresh" content="0;url=${to}"><p><a href="${to}">Continue</a></p></html>`,
      cookie === undefined ? {} : { "set-cookie": cookie },
    );
  }

  async #look(request: IncomingMessage, response: ServerResponse, { url, path, role }: Asked): Promise<void> {
    const look = routeIn(looks, path);
    if (!look) return sendUnknown(response);
    const query = { get: (key: string) => url.searchParams.get(key) ?? "", request, role };
    await this.#answer(response, () => look(this.#context, query));
  }

  async #change(request: IncomingMessage, response: ServerResponse, { path, role }: Asked): Promise<void> {
    // A page of another origin cannot set this header without a preflight request, and a form cannot set it at all.
    if (request.headers["x-subcrew"] !== "page" || !isSameOrigin(request))
      return sendJson(response, 403, {
        code: "REFUSED",
        message: "The request does not come from the page.",
        hint: "Open the page with the link that `subcrew web` prints.",
      });
    if (role !== "full")
      return sendJson(response, 403, {
        code: "REFUSED",
        message: "This link is read-only.",
        hint: "Open the link with full access, which `subcrew web` printed in its terminal.",
      });
    const change = routeIn(changes, path);
    if (!change) return sendUnknown(response);
    await this.#answer(response, async () => change(this.#context, await bodyOf(request)));
  }

  async #answer(response: ServerResponse, work: () => Promise<unknown>): Promise<void> {
    try {
      sendJson(response, 200, this.#context.crew.masked(await work()));
    } catch (error) {
      if (!isCrewError(error)) this.#options.onError(error);
      if (!response.headersSent) sendError(response, error);
    }
  }
}

function routeIn<Route>(routes: Readonly<Record<string, Route>>, path: string): Route | undefined {
  const name = path.startsWith("api/") ? path.slice(4) : "";
  return Object.hasOwn(routes, name) ? routes[name] : undefined;
}

const sendUnknown = (response: ServerResponse): void =>
  sendJson(response, 404, { code: "BAD_INPUT", message: "This address does not exist.", hint: "" });

const refuseStranger = (response: ServerResponse): void =>
  sendNotice(
    response,
    403,
    "Not your page",
    "The page belongs to another user of this machine. Ask for a link of <code>subcrew web --share-readonly</code>, or run <code>subcrew web</code> yourself.",
  );

/**
 * True when the browser says that the request comes from this origin. Requests without that information are refused.
 */
const isSameOrigin = ({ headers }: IncomingMessage): boolean =>
  headers.origin !== undefined || headers["sec-fetch-site"] === "same-origin";

function connect(request: IncomingMessage, response: ServerResponse, url: URL, hub: Hub): void {
  const run = url.searchParams.get("run") ?? undefined;
  const last = String(request.headers["last-event-id"] ?? url.searchParams.get("last") ?? "");
  const cut = last.lastIndexOf(":");
  const after = cut > 0 && last.slice(0, cut) === run ? Number(last.slice(cut + 1)) : undefined;
  request.socket.setTimeout(0);
  hub.connect(response, { run, after: after !== undefined && Number.isSafeInteger(after) ? after : undefined });
}
