import type { SourceScope } from "../../core/agent/source-scope.ts";

/**
 * One place where a family's agents may be: a directory or a file, below a project's directory or below the home
 * directory. A family is an agent program that has its own agent files.
 */
export type Row = Readonly<{
  /** The prefix of qualified names, and the name of the family in lists. */
  family: string;
  dialect: string;
  /** Paths in the project. The nearest directory that contains one of these paths is used. */
  project: readonly string[];
  /** Paths below the home directory. */
  user: readonly string[];
  /** True: subdirectories are searched too. */
  deep?: true;
  /** The file name, if each agent is a folder that contains a file of this name. */
  folders?: string;
  /** The folder in plugins with the same contents; absent: `agents`. */
  inPlugins?: string;
}>;

/**
 * The sources of agents. Their order decides which of two agents with the same name is used: the earlier source wins.
 * The rows of an inner list belong to one family: their project places all come before their user places. Help,
 * documents and `agents sources` are generated from this list.
 */
export const agentFamilies: readonly (readonly Row[])[] = [
  [
    { family: "subcrew", dialect: "own", project: [".subcrew/agents"], user: [".subcrew/agents"] },
    { family: "agents", dialect: "own", project: [".agents/agents"], user: [".agents/agents"] },
  ],
  [{ family: "omp", dialect: "omp", project: [".omp/agents"], user: [".omp/agent/agents"] }],
  [{ family: "pi", dialect: "pi", project: [".pi/agents"], user: [".pi/agent/agents"], deep: true }],
  [{ family: "gen", dialect: "gencode", project: [".gen/agents"], user: [".gen/agents"] }],
  [{ family: "claude", dialect: "claude", project: [".claude/agents"], user: [".claude/agents"], deep: true }],
  [
    { family: "codex", dialect: "codex", project: [".codex/agents"], user: [".codex/agents"] },
    { family: "codex", dialect: "codex", project: [".codex/config.toml"], user: [".codex/config.toml"] },
  ],
  [{ family: "gemini", dialect: "gemini", project: [".gemini/agents"], user: [".gemini/agents"] }],
  [
    {
      family: "opencode",
      dialect: "opencode",
      project: [
        ".opencode/agent",
        ".opencode/agents",
        ".opencode/mode",
        ".opencode/modes",
        ".opencode/opencode.json",
        ".opencode/opencode.jsonc",
        "opencode.json",
        "opencode.jsonc",
      ],
      user: [
        ".config/opencode/agent",
        ".config/opencode/agents",
        ".config/opencode/opencode.json",
        ".config/opencode/opencode.jsonc",
      ],
      deep: true,
    },
    {
      family: "kilo",
      dialect: "opencode",
      project: [".kilo/agents", ".kilo/agent", ".kilocode/agents", "kilo.json", "kilo.jsonc"],
      user: [".config/kilo/agents", ".config/kilo/agent", ".config/kilo/kilo.json", ".config/kilo/kilo.jsonc"],
      deep: true,
    },
  ],
  [{ family: "copilot", dialect: "copilot", project: [".github/agents"], user: [".copilot/agents"], deep: true }],
  [{ family: "cursor", dialect: "cursor", project: [".cursor/agents"], user: [".cursor/agents"] }],
  [{ family: "qwen", dialect: "qwen", project: [".qwen/agents"], user: [".qwen/agents"] }],
  [{ family: "factory", dialect: "factory", project: [".factory/droids"], user: [".factory/droids"] }],
  [
    { family: "goose", dialect: "goose", project: [".goose/agents"], user: [".config/goose/agents"] },
    {
      family: "goose",
      dialect: "goose",
      project: [".goose/recipes", ".agents/recipes"],
      user: [".config/goose/recipes", ".agents/recipes"],
    },
  ],
  [{ family: "roo", dialect: "roo", project: [".roomodes"], user: [".roo/custom_modes.yaml"] }],
  [{ family: "kiro", dialect: "kiro", project: [".kiro/agents"], user: [".kiro/agents"] }],
  [{ family: "augment", dialect: "claude", project: [".augment/agents"], user: [".augment/agents"] }],
  [{ family: "openhands", dialect: "openhands", project: [".openhands/agents"], user: [".openhands/agents"] }],
  [
    {
      family: "deepagents",
      dialect: "deepagents",
      project: [".deepagents/agents"],
      user: [".deepagents/agent/agents"],
      folders: "AGENTS.md",
    },
  ],
  [{ family: "crewai", dialect: "crewai", project: ["config/agents.yaml"], user: [] }],
  [
    {
      family: "subagent",
      dialect: "subagent",
      project: ["data/subagents", "subagents", ".subcrew/subagents"],
      user: [".subcrew/subagents"],
      folders: "SUBAGENT.md",
    },
  ],
];

export type Order = "family-first" | "scope-first";

/** Where agents are searched to behave like a certain other program. */
export type Preset = Readonly<{
  families: readonly (readonly Row[])[];
  order: Order;
  scope: SourceScope;
  plugins: boolean;
  /** Which bundled agents are available; absent: all of them. */
  bundled?: readonly string[];
  /** True: no file can replace a bundled agent. */
  protectBundled: boolean;
  /** The tools of an agent without a tools list. */
  toolsWhenOmitted: "all" | "none";
}>;

const unified: Preset = {
  families: agentFamilies,
  order: "family-first",
  scope: "both",
  plugins: true,
  protectBundled: false,
  toolsWhenOmitted: "all",
};

/** The rows of some families, optionally all read in one file format. */
function only(names: readonly string[], dialect?: string): readonly (readonly Row[])[] {
  const rows = agentFamilies.flat();
  return names.map((name) => {
    const row = rows.find(({ family }) => family === name)!;
    return [dialect === undefined ? row : { ...row, dialect }];
  });
}

export const presets = {
  unified,
  omp: {
    ...unified,
    families: only(["omp", "claude", "codex", "gemini"], "omp"),
    bundled: ["explore", "plan", "designer", "reviewer", "task", "quick_task"],
  },
  pegasus: {
    ...unified,
    families: only(["subagent"]),
    plugins: false,
    bundled: ["general", "explore", "plan", "deepresearch", "code"],
  },
  mycode: {
    ...unified,
    families: only(["gen", "claude"], "gencode"),
    order: "scope-first",
    bundled: ["Explore", "Plan", "Bash", "general-purpose"],
    protectBundled: true,
  },
  "pi-parallel": { ...unified, families: only(["pi"]), scope: "user", plugins: false, bundled: [] },
  gemini: {
    ...unified,
    families: only(["gemini"]),
    plugins: false,
    bundled: ["codebase-investigator", "cli-help"],
    toolsWhenOmitted: "none",
  },
} as const satisfies Readonly<Record<string, Preset>>;

export type PresetName = keyof typeof presets;
