import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { Flags } from "../base/flags.ts";
import { withEngine } from "./named-engine.ts";

/** The command `subcrew engine drain WORKER`. */
export async function drainWorker(word: string, flags: Flags): Promise<number> {
  return withEngine(flags, async (engine) => {
    const found = await engine.workers(word);
    const [one, other] = found;
    if (!one || other)
      throw new CrewError(
        "BAD_INPUT",
        one ? `"${word}" means ${found.length} workers.` : `Unknown worker "${word}".`,
        one ? `Write more of the name: ${found.join(", ")}.` : "`subcrew engine status` lists the workers.",
      );
    await engine.drain(one);
    if (flags.json) process.stdout.write(`${jsonText({ worker: one, draining: true })}\n`);
    else
      process.stdout.write(
        `${one} takes no more tasks and ends when its tasks have ended or were returned to the queue.\n`,
      );
    return 0;
  });
}
