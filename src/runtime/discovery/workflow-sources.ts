import { SKILL_FILE } from "../files/skill-folder.ts";
import type { Row } from "./sources.ts";

type Places = Readonly<{ project?: readonly string[]; user?: readonly string[] }>;

/** The folders that contain skills, in the same order of programs as for agents. */
const skills: Readonly<Record<string, Places>> = {
  subcrew: both(".subcrew/skills"),
  agents: both(".agents/skills"),
  omp: { project: [".omp/skills"], user: [".omp/agent/skills"] },
  pi: { project: [".pi/skills"], user: [".pi/agent/skills"] },
  gen: both(".gen/skills"),
  claude: both(".claude/skills"),
  codex: both(".codex/skills"),
  gemini: both(".gemini/skills"),
  opencode: {
    project: [".opencode/skill", ".opencode/skills"],
    user: [".config/opencode/skill", ".config/opencode/skills"],
  },
  kilo: { project: [".kilo/skills", ".kilocode/skills"], user: [".config/kilo/skills"] },
  copilot: { project: [".github/skills"], user: [".copilot/skills"] },
  cursor: both(".cursor/skills"),
  qwen: both(".qwen/skills"),
  factory: both(".factory/skills"),
  goose: { project: [".goose/skills"], user: [".config/goose/skills"] },
  roo: both(".roo/skills"),
  kiro: both(".kiro/skills"),
  subagent: { project: ["data/skills", "skills"] },
};

/** The folders that contain workflow commands. */
const commands: Readonly<Record<string, Places>> = {
  subcrew: both(".subcrew/commands"),
  agents: both(".agents/commands"),
  omp: { project: [".omp/commands"], user: [".omp/agent/commands"] },
  pi: { project: [".pi/prompts"], user: [".pi/agent/prompts"] },
  gen: both(".gen/commands"),
  claude: both(".claude/commands"),
  codex: both(".codex/prompts"),
  opencode: {
    project: [".opencode/command", ".opencode/commands"],
    user: [".config/opencode/command", ".config/opencode/commands"],
  },
  copilot: { project: [".github/prompts"] },
  cursor: both(".cursor/commands"),
  qwen: both(".qwen/commands"),
  factory: both(".factory/commands"),
  roo: both(".roo/commands"),
  augment: both(".augment/commands"),
};

/** Each skill is a folder with a `SKILL.md`. */
export const skillFamilies: readonly (readonly Row[])[] = familiesOf(skills, {
  dialect: "skill",
  folders: SKILL_FILE,
  inPlugins: "skills",
});

/** Each command is a Markdown file; folders become part of the name. */
export const commandFamilies: readonly (readonly Row[])[] = familiesOf(commands, {
  dialect: "command",
  deep: true,
  inPlugins: "commands",
});

function both(path: string): Places {
  return { project: [path], user: [path] };
}

function familiesOf(
  places: Readonly<Record<string, Places>>,
  rest: Omit<Row, "family" | "project" | "user">,
): readonly (readonly Row[])[] {
  return Object.entries(places).map(([family, { project = [], user = [] }]) => [{ family, project, user, ...rest }]);
}
