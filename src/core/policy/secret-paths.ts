import { foldPath } from "../rules/fold-path.ts";
import { words } from "../text/words.ts";

/*
 * The only list of places that hold keys, tokens, cookies, mail or typed commands. The sandbox hides them from
 * commands; file tools, search, context files, worktrees, ACP and foreign runners refuse them. A rule that names a path
 * allows it.
 */

/** Secret folders and files in a home folder. */
export const secretHomeFolders: readonly string[] = words(`
  .ssh .gnupg .aws .azure .kube .docker .oci .aliyun .bluemix .minikube .fly .terraform.d .password-store .huggingface .kaggle
  .config/gcloud .config/gh .config/glab-cli .config/hub .config/op .config/doctl .config/hcloud .config/linode-cli .config/rclone
  .config/heroku .config/stripe .config/netlify .config/sops .config/age .config/containers .config/helm .config/configstore
  .local/share/keyrings .local/share/kwalletd .local/share/password-store .local/share/com.vercel.cli .local/share/atuin
  .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge .config/vivaldi
  .config/opera .config/Bitwarden .config/1Password .config/keepassxc .config/Signal .config/Slack .config/discord .config/evolution
  .local/share/evolution snap/firefox snap/chromium .var/app
  Library/Keychains Library/Cookies Library/Mail Library/Messages Library/Safari Library/Containers
  .subcrew .claude .codex .gemini .qwen .copilot .cursor .factory .config/github-copilot .local/share/opencode .config/goose
`).concat(
  ["Google", "Firefox", "BraveSoftware", "Microsoft Edge", "com.apple.TCC"].map(
    (name) => `Library/Application Support/${name}`,
  ),
);
export const secretHomeFiles: readonly string[] = words(`
  .netrc _netrc .authinfo .authinfo.gpg .npmrc .yarnrc.yml .pypirc .gem/credentials .git-credentials .config/git/credentials .pgpass
  .my.cnf .mylogin.cnf .vault-token .s3cfg .boto .databrickscfg .terraformrc .cargo/credentials .cargo/credentials.toml
  .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .composer/auth.json .config/composer/auth.json
  .nuget/NuGet/NuGet.Config .cache/huggingface/token .config/wrangler/config/default.toml .msmtprc .fetchmailrc .Xauthority
  .ICEauthority .claude.json .env .bash_history .zsh_history .zhistory .histfile .sh_history .ksh_history .node_repl_history
  .python_history .psql_history .mysql_history .sqlite_history .rediscli_history .irb_history .dbshell .lesshst .viminfo
  .local/share/fish/fish_history
`);

/** Secret paths of the system. `/proc` is not listed, because programs in the sandbox have their own `/proc`. */
export const secretSystemPlaces: readonly string[] = words(`
  /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private /etc/security/opasswd
  /etc/krb5.keytab /etc/NetworkManager/system-connections /etc/wireguard /etc/openvpn /etc/kubernetes /etc/rancher
  /run/secrets /run/credentials /run/user /var/run/secrets /var/lib/kubelet /var/spool/mail /var/mail
`);
const PROC = "/proc";

/** Environment variables that point programs to their secrets; each holds one path, or several separated by colons. */
const VARIABLES: readonly string[] = words(`
  GNUPGHOME AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE AWS_WEB_IDENTITY_TOKEN_FILE AZURE_CONFIG_DIR KUBECONFIG DOCKER_CONFIG
  GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_CONFIG GH_CONFIG_DIR PASSWORD_STORE_DIR NETRC PGPASSFILE CLAUDE_CONFIG_DIR CODEX_HOME
  COPILOT_HOME NPM_CONFIG_USERCONFIG npm_config_userconfig HISTFILE XAUTHORITY ICEAUTHORITY VAULT_TOKEN_PATH BOTO_CONFIG
  TF_CLI_CONFIG_FILE SOPS_AGE_KEY_FILE HF_TOKEN_PATH REGISTRY_AUTH_FILE OCI_CLI_CONFIG_FILE
`);

/** The absolute paths that the environment names as places of secrets. */
export function secretPathsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return VARIABLES.flatMap((name) => (env[name] ?? "").split(":")).filter((path) => /^\/[^/]/.test(path));
}

const byFirstStep = new Map<string, string[][]>();
for (const place of [...secretHomeFolders, ...secretHomeFiles]) {
  const steps = foldPath(place).split("/");
  byFirstStep.set(steps[0]!, [...(byFirstStep.get(steps[0]!) ?? []), steps]);
}

/**
 * The secret place of a home folder that contains this path; `from` is the index of the first segment below the home
 * folder.
 */
function secretAt(steps: readonly string[], from: number): string | undefined {
  const found = byFirstStep
    .get(steps[from] ?? "")
    ?.find((place) => place.every((step, at) => steps[from + at] === step));
  return found?.join("/");
}

/**
 * The secret place that the pattern of a rule names, wherever the home folder is. A pattern with a wildcard names none.
 */
export function secretNamed(pattern: string): string | undefined {
  const path = foldPath(pattern);
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  for (let at = 0; at < steps.length; at++) {
    const found = secretAt(steps, at);
    if (found !== undefined) return found;
  }
  return [...secretSystemPlaces, PROC].find((place) => isWithin(`/${steps.join("/")}`, foldPath(place)));
}

/** Finds the secret path that contains an absolute path. It is cheap, because a search calls it for every entry. */
export function secretFinder(
  homes: readonly string[],
  named: readonly string[],
): (absolute: string) => string | undefined {
  const own = homes.map((home) => `${home === "/" ? "" : home}/`);
  const whole = [...secretSystemPlaces, PROC, ...named].map((place) => [place, foldPath(place)] as const);
  return (absolute) => {
    const home = own.find((each) => absolute.startsWith(each)) ?? ANY_HOME.exec(absolute)?.[0];
    if (home !== undefined) {
      const rest = absolute.slice(home.length);
      const end = rest.indexOf("/");
      const first = foldPath(end < 0 ? rest : rest.slice(0, end));
      const found = byFirstStep.has(first) ? secretAt(foldPath(rest).split("/"), 0) : undefined;
      if (found !== undefined) return found;
    }
    const folded = foldPath(absolute);
    return whole.find(([, place]) => isWithin(folded, place))?.[0];
  };
}

/** Matches home folders of other users, as common systems name them. */
const ANY_HOME = /^\/(?:root|(?:home|Users|var\/home)\/[^/]+)\//;

const isWithin = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
