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
  .pki .putty .step .tsh .lpass .keychain .yubico .config/Yubico .acme.sh .cloudflared .ngrok2 .config/ngrok .pulumi .railway .okta
  .config/railway .supabase .config/supabase .vercel .config/vercel .netlify .argocd .config/argocd .config/flyctl
  .aws-vault .awsvault .snowflake .snowsql .databricks .dbt .config/teleport .config/tailscale .config/rustdesk .config/oauth2l .config/gspread
  .config/earthengine .config/wrangler .config/.wrangler .wrangler .config/kaggle .config/wandb .config/vastai .runpod .replicate
  .openai .config/openai .anthropic .config/anthropic .config/io.datasette.llm .config/llm .config/aichat .config/mods .config/fabric
  .config/cursor .local/share/amp .amp .config/amp .kiro .codeium .windsurf .continue .config/opencode
  .config/Code/User/globalStorage .config/Code/User/workspaceStorage .config/Code/User/History .config/Cursor
  .config/VSCodium/User/globalStorage .config/JetBrains .vscode-server/data
  .bitcoin .ethereum .electrum .monero .litecoin .dogecoin .config/solana .config/Ledger .exodus .config/Exodus
  .config/lpass .local/share/lpass .config/gopass .local/share/gopass .config/rbw .local/share/rbw .cache/rbw .config/Enpass
  .local/share/kwallet .kde/share/apps/kwallet .kde4/share/apps/kwallet .local/share/mkcert .local/share/uv/credentials
  .librewolf .waterfox .config/librewolf .local/share/epiphany .config/qutebrowser .local/share/qutebrowser .config/falkon
  .local/share/falkon .config/yandex-browser .config/Thorium .cache/mozilla .cache/google-chrome .cache/chromium
  .local/share/TelegramDesktop .config/Element .config/teams .config/Microsoft .config/zoom .zoom .config/WhatsApp .config/Mattermost
  .config/skypeforlinux .purple .weechat .config/weechat .local/share/weechat .irssi .mutt .config/mutt .config/neomutt .config/aerc
  .claws-mail .config/geary .local/share/geary Maildir
  .filezilla .config/filezilla .config/remmina .local/share/remmina .vnc .config/tigervnc .davfs2 .subversion/auth .config/rclone
  .config/borg .config/restic .config/syncthing .local/state/syncthing .config/Nextcloud .dropbox .config/Mullvad .config/protonvpn
  .config/Proton .cert .config/spotify .config/sentry .config/exercism .config/jira .config/.jira
  .local/share/nvim/shada .local/state/nvim/shada .local/share/powershell/PSReadLine .tabnine .cline .config/fish/fish_variables .mongodb .config/mycli .config/pgcli .pgcli
  Library/Keychains Library/Cookies Library/Mail Library/Messages Library/Safari Library/Containers
  .subcrew .claude .codex .gemini .qwen .copilot .cursor .factory .config/github-copilot .local/share/opencode .config/goose
`).concat(
  ["Google", "Firefox", "BraveSoftware", "Microsoft Edge", "com.apple.TCC"].map(
    (name) => `Library/Application Support/${name}`,
  ),
  ".config/Bitwarden CLI",
);
export const secretHomeFiles: readonly string[] = words(`
  .netrc _netrc .authinfo .authinfo.gpg .npmrc .yarnrc.yml .pypirc .gem/credentials .git-credentials .config/git/credentials .pgpass
  .my.cnf .mylogin.cnf .vault-token .s3cfg .boto .databrickscfg .terraformrc .cargo/credentials .cargo/credentials.toml
  .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .composer/auth.json .config/composer/auth.json
  .nuget/NuGet/NuGet.Config .cache/huggingface/token .config/wrangler/config/default.toml .msmtprc .fetchmailrc .Xauthority
  .ICEauthority .claude.json .env .bash_history .zsh_history .zhistory .histfile .sh_history .ksh_history .node_repl_history
  .python_history .psql_history .mysql_history .sqlite_history .rediscli_history .irb_history .dbshell .lesshst .viminfo
  .local/share/fish/fish_history
  .cache/huggingface/stored_tokens .ipython/profile_default/history.sqlite .rclone.conf .muttrc .mbsyncrc .offlineimaprc .isyncrc .netrc.gpg .smbcredentials .saml2aws .oauth2l .modal.toml .exercism.json
  .sentryclirc .condarc .yarnrc .bunfig.toml .hgrc .config/hg/hgrc .wgetrc .wget-hsts .curlrc .config/curlrc .mongorc.js .aider.conf.yml
  .bundle/config .pip/pip.conf .config/pip/pip.conf .config/uv/uv.toml .config/hatch/config.toml .config/pypoetry/auth.toml
  .config/zoomus.conf .jupyter/jupyter_server_config.json .jupyter/jupyter_notebook_config.json .conan2/credentials.json
  .config/containers/auth.json .dockercfg
`);

/**
 * Names that programs give to keys, tokens, passwords and typed commands. In the hidden part of a home folder, where
 * programs keep their settings, such a name is a secret, so that the list need not know every program.
 */
const SECRET_NAMES: readonly RegExp[] = [
  /(?:^|[^a-z])(?:credentials?|tokens?|secrets?|passwords?|passwd|passphrases?|cookies?|keyrings?|keystores?|wallets?|logins?)(?:[^a-z]|$)/,
  /(?:^|[^a-z])(?:(?:api|private|secret|access|master|ssh|auth|signing|age|u2f)[^a-z]?keys?|keys?|o?auth2?|vault[^a-z]?pass)(?:\.[a-z0-9]+)?$/,
  /(?:history|histfile|(?:^|[^a-z])hist)(?:\.[a-z0-9]+)?$/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx?|keytab|gpg|age|ppk|ovpn|kwl)$/,
  /^(?:id_(?:rsa|dsa|ecdsa|ed25519)|key[34]\.db|login data|\.google_authenticator$|\.env(?:\.|$))/,
];
const NO_SECRET =
  /[*?[\]{}]|\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|lua|vim|el|sh|bash|zsh|fish|md|html|css|svg|png|pub|example|sample|template|dist)$/;

/**
 * Whether a folded name looks like the name of a file or folder with secrets. Patterns and source code do not count.
 */
const isSecretName = (name: string): boolean =>
  !NO_SECRET.test(name) && SECRET_NAMES.some((pattern) => pattern.test(name));

/**
 * Folders of a home folder in which each program has its own folder. Every other hidden folder belongs to a single
 * program.
 */
export const programFolders: readonly string[] = [".config", ".local/share", ".local/state"];
const SHARED = programFolders.map((folder) => folder.split("/"));

/**
 * The hidden file of a home folder, or the entry of a program's folder in it, that contains this path and looks secret.
 */
function secretByName(steps: readonly string[], from: number): string | undefined {
  if (!steps[from]?.startsWith(".")) return undefined;
  const skipped = SHARED.find((folder) => folder.every((step, at) => steps[from + at] === step))?.length ?? 0;
  const last = Math.min(skipped + 2, steps.length - from);
  for (let at = skipped; at < last; at++)
    if (isSecretName(steps[from + at]!)) return steps.slice(from, from + at + 1).join("/");
  return undefined;
}

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
 * The listed secret place of a home folder that contains this path; `from` is the index of the first segment below the
 * home folder.
 */
function listedAt(steps: readonly string[], from: number): string | undefined {
  const found = byFirstStep
    .get(steps[from] ?? "")
    ?.find((place) => place.every((step, at) => steps[from + at] === step));
  return found?.join("/");
}

/** The secret place of a home folder that contains this path, by the list or by the name of a file or folder. */
const secretAt = (steps: readonly string[], from: number): string | undefined =>
  listedAt(steps, from) ?? secretByName(steps, from);

/** The secret place that contains this path, which is relative to a home folder. */
export const secretInHome = (path: string): string | undefined => secretAt(foldPath(path).split("/"), 0);

/**
 * The secret place that the pattern of a rule names; the home folder in the pattern may be any folder. A pattern with a
 * wildcard names no secret place.
 */
export const secretNamed = (pattern: string): string | undefined => namedBy(pattern, secretAt);

/** The secret place of the list that a path names; the home folder in the path may be any folder. */
export const secretListed = (path: string): string | undefined => namedBy(path, listedAt);

function namedBy(pattern: string, placeAt: typeof secretAt): string | undefined {
  const path = foldPath(pattern);
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  for (let at = 0; at < steps.length; at++) {
    const found = placeAt(steps, at);
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
      const found =
        first.startsWith(".") || byFirstStep.has(first) ? secretAt(foldPath(rest).split("/"), 0) : undefined;
      if (found !== undefined) return found;
    }
    const folded = foldPath(absolute);
    return whole.find(([, place]) => isWithin(folded, place))?.[0];
  };
}

/** Matches home folders of other users, as common systems name them. */
const ANY_HOME = /^\/(?:root|(?:home|Users|var\/home)\/[^/]+)\//;

const isWithin = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
