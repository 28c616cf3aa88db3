import { CrewError } from "../core/schema/error.ts";
import type { EngineKind } from "./engine-kind.ts";
import { secretsOfUrl, shownUrl } from "./postgres/engine-url.ts";

/**
 * The engines that several machines share. A new engine is one file and one row; without an engine, runs are executed
 * and stored on this machine.
 */
export const engines: Readonly<Record<string, EngineKind>> = {
  postgres: {
    protocols: ["postgres:", "postgresql:"],
    what: "a Postgres database",
    address: "a Postgres URL",
    example: "postgres://HOST/DATABASE",
    hint: "Write the address as postgres://HOST/DATABASE, with user and password before the host; `subcrew engine dev` starts a database on this machine.",
    shown: shownUrl,
    secrets: secretsOfUrl,
    load: async () => (await import("./postgres.ts")).postgresEngine,
  },
};

/** The words for all engines. */
export const engineWords = (key: "what" | "address" | "example"): string =>
  Object.values(engines)
    .map((kind) => kind[key])
    .join(" or ");

/** The engine with this address. Throws if there is none. */
export function engineAt(address: string): EngineKind {
  const protocol = URL.canParse(address) ? new URL(address).protocol : "";
  const found = Object.values(engines).find(({ protocols }) => protocols.includes(protocol));
  if (found) return found;
  const hints = Object.values(engines).map(({ hint }) => hint);
  throw new CrewError("BAD_INPUT", `The address of the engine is not ${engineWords("address")}.`, hints.join(" "));
}
