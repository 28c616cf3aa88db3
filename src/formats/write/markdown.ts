import { dump } from "js-yaml";

/** The text of an agent file: YAML frontmatter and a Markdown body. */
export function frontmatter(keys: Readonly<Record<string, unknown>>, body: string): string {
  const text = body.trim();
  return `---\n${yamlOf(keys)}---\n${text === "" ? "" : `\n${text}\n`}`;
}

/** Keys as readable YAML: short lists on one line, long texts in blocks. */
export function yamlOf(keys: Readonly<Record<string, unknown>>): string {
  return Object.entries(keys)
    .map(([key, value]) => (isShortList(value) ? `${wordOf(key)}: ${flow(value)}\n` : dump({ [key]: value }, OPTIONS)))
    .join("");
}

const OPTIONS = { lineWidth: -1, noRefs: true } as const;

function isShortList(value: unknown): value is readonly unknown[] {
  if (!Array.isArray(value) || value.some((item) => typeof item === "object")) return false;
  return value.length === 0 || flow(value).length <= 100;
}

const flow = (value: unknown): string => dump(value, { ...OPTIONS, flowLevel: 0 }).trimEnd();
const wordOf = (key: string): string => dump(key, OPTIONS).trimEnd();

/** True when a text survives writing to the body of a file and parsing it again. */
export const fitsBody = (text: string): boolean => text === text.trim() && !text.includes("\r");
