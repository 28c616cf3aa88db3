import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";

/** Folders and files in a home that hold keys, tokens, cookies or what was typed. */
const FOLDERS: readonly string[] = [
  ...[".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/hub", ".config/op", ".config/doctl"],
  ...[".config/rclone", ".password-store", ".local/share/keyrings", ".terraform.d", ".mozilla", ".config/google-chrome", ".config/chromium"],
  ...[".thunderbird", ".subcrew", ".claude", ".codex", ".gemini", ".copilot", ".config/github-copilot", ".local/share/opencode"],
];
const FILES: readonly string[] = [
  ...[".netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials", ".config/git/credentials", ".pgpass", ".my.cnf", ".vault-token"],
  ...[".s3cfg", ".boto", ".databrickscfg", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".claude.json"],
  ...[".bash_history", ".zsh_history", ".node_repl_history", ".python_history", ".psql_history", ".mysql_history", ".env"],
];
const SYSTEM: readonly string[] = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private", "/root/.ssh"];

export type Places = Readonly<{ folders: readonly string[]; files: readonly string[] }>;

/** Those that are there, as they really are, so that they can be hidden; with `more` that somebody named. */
export async function secretPlaces(homes: readonly string[], more: readonly string[] = []): Promise<Places> {
  const wanted = [...homes.flatMap((home) => [...FOLDERS, ...FILES].map((name) => join(home, name))), ...SYSTEM, ...more];
  const found = await Promise.all(
    wanted.map(async (path) => {
      const real = await realpath(path).catch(() => undefined);
      const stats = real === undefined ? undefined : await lstat(real).catch(() => undefined);
      return real === undefined || stats === undefined ? undefined : { real, folder: stats.isDirectory() };
    }),
  );
  const there = found.filter((each) => each !== undefined);
  const unique = (folder: boolean): string[] => [...new Set(there.filter((each) => each.folder === folder).map(({ real }) => real))];
  return { folders: unique(true), files: unique(false) };
}
