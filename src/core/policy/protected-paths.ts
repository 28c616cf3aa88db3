import { foldPath } from "../rules/fold-path.ts";
import { words } from "../text/words.ts";

/*
 * What in a workspace is run, obeyed or loaded later without anybody asking again: an agent that may write source may
 * still not write these. A name counts at any depth, with everything below it, also when it is not there yet.
 *
 * Build files, package scripts and CI files are source: somebody reviews them before they run.
 */

/** Folders and files that programs look for in a project. */
const PROJECT_FOLDERS: readonly string[] = [
  // version control: hooks, filters and aliases of its configuration are programs
  ...words(".git .hg .husky"),
  // agents, their settings, hooks and servers
  ...words(
    ".subcrew .agents .omp .pi .gen .claude .codex .gemini .opencode .kilo .kilocode .copilot .cursor .qwen .factory",
  ),
  ...words(".goose .roo .kiro .augment .windsurf .openhands .deepagents"),
  // editors: tasks, launch commands, plugins
  ...words(".vscode .idea .zed .devcontainer"),
];
const PROJECT_FILES: readonly string[] = [
  ...words(
    ".gitmodules .mcp.json .roomodes opencode.json opencode.jsonc kilo.json kilo.jsonc .exrc .nvimrc .nvim.lua .gdbinit",
  ),
  // shells and package managers load these on their own, and some entries are commands
  ...words(".envrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs"),
];

/** What programs look for in a home folder. */
const HOME_FOLDERS: readonly string[] = words(".ssh .gnupg");
const HOME_FILES: readonly string[] = words(`
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc
  .cshrc .tcshrc .login .inputrc .tmux.conf .vimrc .lldbinit .gitconfig .ripgreprc .netrc
`);

/** Places that only count as a whole: in a project, and in a home folder. */
const PROJECT_PLACES: readonly string[] = words(".github/agents .github/hooks");
const HOME_PLACES: readonly string[] = words(`
  .config/git .config/fish .config/systemd .config/autostart .config/opencode .config/kilo .config/goose
  library/launchagents
`);

/** Places that only count at the top of a workspace. */
const TOP_PLACES: readonly string[] = words("subagents data/subagents config/agents.yaml");

const names = new Set([...PROJECT_FOLDERS, ...PROJECT_FILES, ...HOME_FOLDERS, ...HOME_FILES]);
const places = [...PROJECT_PLACES, ...HOME_PLACES];

/** The protected thing that a path is or lies in, or nothing. */
export function protectedPart(path: string): string | undefined {
  const steps = foldPath(path)
    .split("/")
    .filter((step) => step !== "" && step !== ".");
  const name = steps.find((step) => names.has(step));
  if (name !== undefined) return name;
  const whole = `/${steps.join("/")}/`;
  const place = places.find((each) => whole.includes(`/${each}/`));
  return place ?? TOP_PLACES.find((each) => whole.startsWith(`/${each}/`));
}

/**
 * What is guarded at the top of a workspace even while it is missing, so that no program can make it there. These are the ones
 * that are obeyed as soon as somebody opens the folder; what else comes into being is set aside afterwards.
 */
export const guardedAtTop: readonly string[] = words(`
  .git .husky .subcrew .agents .claude .codex .gemini .opencode .cursor .vscode .idea .mcp.json .envrc .npmrc
`);
