import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { words } from "../../core/text/words.ts";

/** Folders and files in a home that hold keys, tokens, cookies or what was typed. */
const FOLDERS: readonly string[] = words(`
  .ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .config/hub .config/op .config/doctl .config/rclone
  .password-store .local/share/keyrings .terraform.d .mozilla .config/google-chrome .config/chromium .thunderbird
  .subcrew .claude .codex .gemini .copilot .config/github-copilot .local/share/opencode
`);
const FILES: readonly string[] = words(`
  .netrc .npmrc .yarnrc.yml .pypirc .git-credentials .config/git/credentials .pgpass .my.cnf .vault-token .s3cfg .boto
  .databrickscfg .cargo/credentials .cargo/credentials.toml .m2/settings.xml .claude.json .bash_history .zsh_history
  .node_repl_history .python_history .psql_history .mysql_history .env
`);
const SYSTEM: readonly string[] = words(
  "/etc/shadow /etc/gshadow /etc/sudoers /etc/sudoers.d /etc/ssl/private /root/.ssh",
);

export type SecretPlaces = Readonly<{ folders: readonly string[]; files: readonly string[] }>;

/** Those that are there, as they really are, so that they can be hidden; with `more` that somebody named. */
export function secretPlaces(homes: readonly string[], more: readonly string[] = []): SecretPlaces {
  const wanted = [
    ...homes.flatMap((home) => [...FOLDERS, ...FILES].map((name) => join(home, name))),
    ...SYSTEM,
    ...more,
  ];
  const folders = new Set<string>();
  const files = new Set<string>();
  for (const path of wanted) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined) (stats.isDirectory() ? folders : files).add(realpathSync.native(path));
  }
  return { folders: [...folders], files: [...files] };
}
