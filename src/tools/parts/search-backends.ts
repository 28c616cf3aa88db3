import { defined } from "../../core/text/defined.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import type { WebAnswer, WebRequest } from "../../runtime/network/guarded-fetch.ts";

/** The settings of the search engine. */
export type WebSearch = Readonly<{
  backend: "searxng" | "brave" | "tavily";
  /** The base URL; SearXNG has no default. */
  url?: string;
  /** The environment variable that holds the search engine's key. */
  keyEnv?: string;
}>;

/** A search engine that is ready for use. */
export type SearchBackend = Readonly<{
  name: WebSearch["backend"];
  /** A sentence about what is missing in the configuration, if anything. */
  missing?: string;
  request(query: SearchQuery): WebRequest;
  results(answer: unknown): readonly SearchResult[];
}>;

export type SearchQuery = Readonly<{ query: string; count: number }>;
export type SearchResult = Readonly<{ title: string; url: string; text: string }>;

/** Creates the search engine from the settings. Its address is not restricted, because the user configured it. */
export function searchBackend(
  { backend, url, keyEnv }: WebSearch,
  env: Readonly<Record<string, string | undefined>>,
): SearchBackend {
  const row = backends[backend];
  const base = url ?? row.url;
  const variable = keyEnv ?? row.keyEnv;
  const key = variable === undefined ? undefined : env[variable];
  const missing =
    base === undefined || !URL.canParse(base)
      ? `The search engine ${backend} needs its address: set webSearch.url.`
      : variable !== undefined && !key
        ? `The search engine ${backend} needs a key: set the environment variable ${variable}.`
        : undefined;
  return {
    name: backend,
    ...defined({ missing }),
    results: row.results,
    request: (query) => {
      const address = new URL(base ?? "");
      const port = address.port || (address.protocol === "https:" ? "443" : "80");
      return { ...row.request(query, { base: address, key: key ?? "" }), allowHosts: [`${address.hostname}:${port}`] };
    },
  };
}

/** Parses the results of a search; throws the reason when that fails. */
export function parsedAnswer({ status, body }: WebAnswer, name: string): unknown {
  if (status === 401 || status === 403)
    throw new Error(
      `the search engine ${name} does not accept its key (${status})${name === "searxng" ? ", or does not offer JSON: enable the format in its settings" : ""}`,
    );
  if (status === 429)
    throw new Error(`the search engine ${name} allows no more searches right now (429): try again later`);
  if (status !== 200) throw new Error(`the search engine ${name} answered with ${status}`);
  try {
    return parseJson(body.toString("utf8"));
  } catch {
    throw new Error(`the answer of the search engine ${name} is not JSON`);
  }
}

type Place = Readonly<{ base: URL; key: string }>;
type Row = Readonly<{
  url?: string;
  keyEnv?: string;
  request(query: SearchQuery, place: Place): WebRequest;
  results(answer: unknown): readonly SearchResult[];
}>;

const backends: Readonly<Record<WebSearch["backend"], Row>> = {
  searxng: {
    request: ({ query }, { base, key }) => ({
      url: under(base, "search", { q: query, format: "json" }),
      ...(key !== "" && { headers: { authorization: `Bearer ${key}` } }),
    }),
    results: (answer) => listAt(answer, "results").map((row) => result(row, "content")),
  },
  brave: {
    url: "https://api.search.brave.com/res/v1/web/search",
    keyEnv: "BRAVE_API_KEY",
    request: ({ query, count }, { base, key }) => ({
      url: under(base, "", { q: query, count: String(count) }),
      headers: { accept: "application/json", "x-subscription-token": key },
    }),
    results: (answer) =>
      listAt(isRecord(answer) ? answer["web"] : undefined, "results").map((row) => result(row, "description")),
  },
  tavily: {
    url: "https://api.tavily.com/search",
    keyEnv: "TAVILY_API_KEY",
    request: ({ query, count }, { base, key }) => ({
      url: base.href,
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ query, max_results: count }),
    }),
    results: (answer) => listAt(answer, "results").map((row) => result(row, "content")),
  },
};

/** Appends a path segment to the base URL, unless the URL already ends with it. */
function under(base: URL, step: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(base);
  const path = url.pathname.replace(/\/$/, "");
  url.pathname = step === "" || path.endsWith(`/${step}`) ? path : `${path}/${step}`;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function listAt(value: unknown, key: string): Record<string, unknown>[] {
  const list = isRecord(value) ? value[key] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function result(row: Record<string, unknown>, textKey: string): SearchResult {
  const text = (key: string): string => (typeof row[key] === "string" ? row[key] : "");
  return { title: text("title"), url: text("url"), text: text(textKey) };
}
