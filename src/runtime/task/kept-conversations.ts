import type { Message } from "../../core/model/model.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { resumedMessages } from "../resume/previous-runs.ts";
import type { World } from "./world.ts";

/** The conversations that a later task of the same run may continue, by task. */
export class KeptConversations {
  readonly #earlier: World["earlier"];
  readonly #kept = new Map<string, readonly Message[]>();

  constructor({ earlier }: Pick<World, "earlier">) {
    this.#earlier = earlier;
  }

  /** Keeps the conversation of a task that only plans: the task that carries the plan out continues it. */
  keeperFor({ run, path, task }: Call): PerformContext["remember"] {
    return task.planOnly ? (messages) => void this.#kept.set(`${run}/${path}`, messages) : undefined;
  }

  /**
   * Adds the conversation of the continued task to a task: from memory, from the journal, or made from prompt and
   * result.
   */
  async resume(call: Call, { durable }: Pick<PerformContext, "durable">): Promise<Call> {
    const { resumes, task } = call;
    // The conversation can be one of this run, and it is read from the journal.
    if (resumes !== undefined || task.continues !== undefined || typeof task.fork === "string") await durable();
    if (!resumes) return call;
    const key = `${call.run}/${resumes.path}`;
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    const talk = known ? { messages: known } : await this.#earlier?.talkOf(key);
    return { ...call, before: resumedMessages(resumes.prompt, resumes.output, talk) };
  }
}
