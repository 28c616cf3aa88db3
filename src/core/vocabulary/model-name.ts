import { type Thinking, thinking } from "./thinking.ts";

/** A written model name, and its thinking level if the name has a suffix for it. */
export type ModelName = Readonly<{ name: string; thinking?: Thinking }>;

/** Model names from a list or a comma-separated text, in order, without empty names. */
export function modelNames(wish: string | readonly string[]): string[] {
  return [wish]
    .flat()
    .flatMap((part) => part.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/**
 * Parses a model name with a thinking level, such as `:high` or `:8000`, at its end. Any other suffix, such as the tag
 * in `qwen3:8b`, belongs to the name.
 */
export function parseModelName(text: string): ModelName {
  const at = text.lastIndexOf(":");
  const suffix = text.slice(at + 1);
  if (at <= 0) return { name: text };
  const level = thinking.safeParse(/^\d+$/.test(suffix) ? Number(suffix) : suffix);
  return level.success ? { name: text.slice(0, at), thinking: level.data } : { name: text };
}

/** Provider and id of `provider/model` or `provider:model`; the id may contain further slashes and colons. */
export function splitModelName(name: string): Readonly<{ provider: string; id: string }> | undefined {
  const [, provider, id] = /^([\w.-]+)[/:](.+)$/.exec(name) ?? [];
  return provider === undefined || id === undefined ? undefined : { provider, id };
}

/**
 * Converts a name made for people to a model id: `Claude Sonnet 4.5 (copilot)` and `sonnet-4.5` become
 * `claude-sonnet-4-5`.
 */
export function idOfDisplayName(name: string): string {
  const id = name
    .replace(/\s*\([^)]*\)\s*$/, "")
    .trim()
    .toLowerCase()
    .replace(/\s+/g, "-");
  const full = /^(haiku|sonnet|opus|fable)-\d/.test(id) ? `claude-${id}` : id;
  return full.startsWith("claude-") ? full.replaceAll(".", "-") : full;
}
