/** Which files hold the instructions of a project, for the agents of one family. */
export type InstructionFiles = Readonly<{
  /** Looked for in each folder from the root of the project down; of each inner list the first that is there counts. */
  project: readonly (readonly string[])[];
  /** Below the home folder; the first that is there counts. */
  user: readonly string[];
}>;

const neutral: InstructionFiles = {
  project: [["AGENTS.md", "CLAUDE.md", "GEMINI.md"]],
  user: [".subcrew/AGENTS.md", ".agents/AGENTS.md"],
};

/**
 * The families whose agents are told what the project says, each by the files that its own tool reads. A folder without
 * the file of a tool is asked for the neutral one. Other families, and bundled agents, are told nothing.
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

/** Families whose agents are told what the project says. */
export const instructedFamilies: readonly string[] = Object.keys(byFamily);

/** The files for an agent, or why it gets none. `wanted`: what its file or the settings say. */
export function instructionFilesOf(
  source: Readonly<{ kind: string; family?: string }> | undefined,
  wanted: "on" | "off" | undefined,
): InstructionFiles | Readonly<{ why: string }> {
  if (wanted === "off") return { why: "the agent sets projectInstructions: off" };
  const family = source?.family ?? "";
  const files = source?.kind !== "bundled" && Object.hasOwn(byFamily, family) ? byFamily[family] : undefined;
  if (files !== undefined) return files;
  if (wanted === "on") return neutral;
  return {
    why: source === undefined || source.kind === "bundled" ? "not for bundled agents" : `not for ${family} agents`,
  };
}

/**
 * The files that a text imports: `@docs/style.md`. Inside code and comments an `@` is no import. A dot or comma that ends the
 * sentence is not part of the path; a blank in a path has a backslash before it.
 */
export function importsIn(text: string): string[] {
  const prose = text
    .replace(FENCE, "")
    .replace(/<!--[\s\S]*?(?:-->|$(?![\s\S]))/g, "")
    .replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, "");
  const paths = [...prose.matchAll(IMPORT)].map(([, path]) => path!.replaceAll("\\ ", " "));
  return [...new Set(paths.filter((path) => /[./]/.test(path)))];
}

/** A block of code ends at a fence that is as long as its first, or with the text. */
const FENCE = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm;
const IMPORT =
  /(?<![\p{L}\p{N}_.`/])@((?:~|\.{1,2})?[\p{L}\p{N}_/](?:\\ |[\p{L}\p{M}\p{N}_./\\-])*?)(?=[\s,;:)\]!?"'>]|\.?$|\.\s)/gmu;
