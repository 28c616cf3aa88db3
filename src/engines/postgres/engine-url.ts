import { CrewError } from "../../core/schema/error.ts";

/** The schema that holds the tables of the engine. */
export const SCHEMA = "subcrew";

/** Checks the address of an engine. */
export function parseEngineUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === "postgres:" || url.protocol === "postgresql:") && url.hostname !== "") return url;
  throw new CrewError(
    "BAD_INPUT",
    "The address of the engine is not a Postgres URL.",
    "Write the address as postgres://HOST/DATABASE, with user and password before the host; `subcrew engine dev` starts a database on this machine.",
  );
}

/** The address without its password, for people. */
export function shownUrl(text: string): string {
  const url = parseEngineUrl(text);
  url.password = "";
  for (const name of [...url.searchParams.keys()]) if (/pass|key|secret/i.test(name)) url.searchParams.delete(name);
  return url.href;
}

/** The secrets in a database address, such as its password. */
export function secretsOfUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  const named = [...searchParams].flatMap(([name, value]) => (/pass|key|secret/i.test(name) ? [value] : []));
  return [decodeURIComponent(password), password, ...named].filter((value) => value.length >= 4);
}
