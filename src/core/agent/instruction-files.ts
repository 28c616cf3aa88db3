/**
 * The files that contain the instructions of a project, for agents of one family (the agent program they were written
 * for).
 */
export type InstructionFiles = Readonly<{
  /**
   * Files that are searched in each folder from the project's root down. In each folder, the first existing file of
   * each inner list is used.
   */
  project: readonly (readonly string[])[];
  /** Files that are searched below the home folder; the first existing file is used. */
  user: readonly string[];
}>;

const neutral: InstructionFiles = {
  project: [["AGENTS.md", "CLAUDE.md", "GEMINI.md"]],
  user: [".subcrew/AGENTS.md", ".agents/AGENTS.md"],
};

/**
 * The instruction files for agents of each family: the files that the family's own program reads, then the neutral
 * `AGENTS.md`. Agents of other families get no project instructions.
 */
const byFamily: Readonly<Record<string, InstructionFiles>> = {
  subcrew: neutral,
  agents: neutral,
  omp: { ...neutral, user: [".omp/agent/AGENTS.md"] },
  claude: {
    project: [["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"], ["CLAUDE.local.md"]],
    user: [".claude/CLAUDE.md"],
  },
  codex: {
    project: [["AGENTS.override.md", "AGENTS.md"]],
    user: [".codex/AGENTS.override.md", ".codex/AGENTS.md"],
  },
  gemini: { project: [["GEMINI.md", "AGENTS.md"]], user: [".gemini/GEMINI.md"] },
  opencode: { project: [["AGENTS.md", "CLAUDE.md"]], user: [".config/opencode/AGENTS.md", ".claude/CLAUDE.md"] },
  copilot: {
    project: [["AGENTS.md", "CLAUDE.md", "GEMINI.md"], [".github/copilot-instructions.md"]],
    user: [".copilot/copilot-instructions.md"],
  },
  cursor: { project: [["AGENTS.md", "CLAUDE.md"]], user: [] },
};

/** Families whose agents get the project's instructions. */
export const instructedFamilies: readonly string[] = Object.keys(byFamily);

/**
 * The instruction files for an agent, or why it gets no such files. `wanted`: the choice in its file or in the
 * settings.
 */
export function instructionFilesOf(
  source: Readonly<{ kind: string; family?: string }> | undefined,
  wanted: "on" | "off" | undefined,
): InstructionFiles | Readonly<{ why: string }> {
  if (wanted === "off") return { why: "the agent sets projectInstructions: off" };
  const family = source?.family ?? "";
  if (source?.kind === "bundled") return neutral;
  if (Object.hasOwn(byFamily, family)) return byFamily[family]!;
  if (wanted === "on") return neutral;
  return { why: source === undefined ? "not for agents without a file" : `not for ${family} agents` };
}

/**
 * The files that a text imports: `@docs/style.md`. An `@` inside code or a comment does not import. A dot or comma that
 * ends the sentence is not part of the path; a space in a path is escaped with a backslash.
 */
export function importsIn(text: string): string[] {
  const prose = text
    .replace(FENCE, "")
    .replace(/<!--[\s\S]*?(?:-->|$(?![\s\S]))/g, "")
    .replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, "");
  const paths = [...prose.matchAll(IMPORT)].map(([, path]) => path!.replaceAll("\\ ", " "));
  return [...new Set(paths.filter((path) => /[./]/.test(path)))];
}

/** Matches a code block. It ends at a fence as long as the opening fence, or at the end of the text. */
const FENCE = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm;
const IMPORT =
  /(?<![\p{L}\p{N}_.`/])@((?:~|\.{1,2})?[\p{L}\p{N}_/](?:\\ |[\p{L}\p{M}\p{N}_./\\-])*?)(?=[\s,;:)\]!?"'>]|\.?$|\.\s)/gmu;
