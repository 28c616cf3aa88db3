import { CrewError } from "../../core/schema/error.ts";
import type { EngineManagement } from "../../engines/engine-kind.ts";
import { engineAt } from "../../engines/table.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";

/** The URL of the engine, from the flag or the settings. */
export async function engineUrl(flags: Pick<Flags, "engine">): Promise<string> {
  const url = flags.engine ?? (await crewFor({})).settings.config.engine;
  if (url !== undefined) return url;
  throw new CrewError(
    "BAD_INPUT",
    "No engine is named.",
    "Add --engine postgres://..., or set `engine` in the settings; `subcrew engine dev` starts an engine on this machine.",
  );
}

/** Opens the engine, passes it to `work`, and closes it. */
export async function withEngine<T>(
  flags: Pick<Flags, "engine">,
  work: (engine: EngineManagement) => Promise<T>,
): Promise<T> {
  const address = await engineUrl(flags);
  const engine = (await engineAt(address).load()).manage(address);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}
