import { computed, signal } from "@preact/signals";

/** A parsed address such as `#/run/ID/PATH?view=graph`: the page, its path segments and its query. */
export type Route = Readonly<{ page: string; words: readonly string[]; query: URLSearchParams }>;

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export const route = computed((): Route => {
  const [path = "", query = ""] = hash.value.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...words] = path.split("/").map(decoded);
  return { page: page === "" ? "runs" : page, words, query: new URLSearchParams(query) };
});

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** The address of a page of the web interface. */
export function linkTo(
  page: string,
  words: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  const path = [page, ...words].map(encodeURIComponent).join("/");
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
  return `#/${path}${text === "" ? "" : `?${text}`}`;
}

/** Navigates to an address; `replace` adds no entry to the history. */
export function go(link: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", link);
    hash.value = link;
  } else location.hash = link;
}

/** The address of a task: its run, its path, and the selected view. */
export const runLink = (run: string, path = "", query: Readonly<Record<string, string>> = {}): string =>
  linkTo("run", path === "" ? [run] : [run, path], query);
