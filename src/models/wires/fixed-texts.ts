import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";

/** The parts of a request that are the same in each turn of an agent, as JSON text. */
export type FixedTexts = Readonly<{ spoken: string; tooling: string }>;

/**
 * Keeps the text of system prompt and tools, which an agent sends with each turn. Its list of tools is the same object
 * each time.
 */
export function createFixedTexts(): (request: ModelRequest, write: () => FixedTexts) => FixedTexts {
  const known = new WeakMap<readonly ToolSpec[], Readonly<{ model: string; system: string; texts: FixedTexts }>>();
  return ({ model, system, tools }, write) => {
    const last = known.get(tools);
    if (last?.model === model && last.system === system) return last.texts;
    const texts = write();
    known.set(tools, { model, system, texts });
    return texts;
  };
}
