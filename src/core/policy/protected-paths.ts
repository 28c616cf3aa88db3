import { foldFileName } from "../rules/fold-path.ts";
import { words } from "../text/words.ts";

/**
 * Names and paths that are executed or loaded later without another approval. An agent that may write source files may
 * still not write these. A name is protected at any depth, with everything below it, even if it does not exist yet.
 *
 * Build files, package scripts and CI files are not listed: they are source, and a person reviews them before they run.
 */

/** Folders and files that programs look for in a project. */
const PROJECT_FOLDERS: readonly string[] = [
  // version control: hooks, filters and aliases of its configuration are programs; git~1 is the short name of .git on NTFS
  ...words(".git git~1 .hg .sl .jj .pijul _darcs .husky .githooks .git-hooks .trunk"),
  // settings of agent programs: agents, hooks and servers
  ...words(
    ".subcrew .agents .omp .pi .gen .claude .codex .gemini .opencode .kilo .kilocode .copilot .cursor .qwen .factory",
  ),
  ...words(
    ".amazonq .aider .crush .iflow .codebuddy .forge .vibe .rovodev .cline .clinerules .tabnine .warp .antigravity",
  ),
  ...words(
    ".goose .roo .kiro .augment .windsurf .openhands .deepagents .amp .continue .junie .trae .agent .grok .qoder",
  ),
  // settings of editors: their tasks, launch commands and plugins
  ...words(".vscode .idea .zed .fleet .nova .devcontainer .helix .theia .lapce .vs"),
];
const PROJECT_FILES: readonly string[] = [
  ...words(
    ".gitmodules .mcp.json .roomodes opencode.json opencode.jsonc kilo.json kilo.jsonc .exrc .nvimrc .nvim.lua .gdbinit",
  ),
  // programs that git starts at the next commit, because these hook managers run them
  ...words(".pre-commit-config.yaml .pre-commit-config.yml prek.toml .overcommit.yml .local-overcommit.yml"),
  ...words(".huskyrc .huskyrc.json .huskyrc.yaml .huskyrc.yml .huskyrc.js husky.config.js"),
  ...words("captainhook.json grumphp.yml grumphp.yaml grumphp.yml.dist grumphp.yaml.dist"),
  ...["lefthook", ".lefthook", "lefthook-local", ".lefthook-local"].flatMap((name) =>
    words("yml yaml toml json jsonc").map((ending) => `${name}.${ending}`),
  ),
  // shells and package managers load these on their own, and some entries are commands
  ...words(".envrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs"),
  ...words("mise.toml .mise.toml mise.local.toml .mise.local.toml .mise"),
  // programs that the interactive shells and debuggers of languages run from the folder they are started in
  ...words(
    ".pdbrc .irbrc .pryrc .rdbgrc .rdbgrc.rb .byebugrc .rprofile .renviron .rdata .ghci .ocamlinit .iex.exs .erlang",
  ),
  ...words(".octaverc .perldb .gdbearlyinit .latexmkrc .gnuplot .radare2rc .rvmrc .autoenv .autoenv.zsh .shadowenv.d"),
  ...words(".devcontainer.json .aider.conf.yml .continuerc.json crush.json .crush.json"),
];

/** Names that only programs in a home folder look for; they are protected at any depth, too. */
const HOME_FOLDERS: readonly string[] = words(".ssh .gnupg");
const HOME_FILES: readonly string[] = words(`
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc
  .cshrc .tcshrc .login .logout .inputrc .tmux.conf .screenrc .vimrc .gvimrc .emacs .lldbinit .gitconfig .hgrc .ripgreprc .netrc
  .pam_environment .environment .xinitrc .xsession .xsessionrc .xprofile .xserverrc .xresources .mavenrc
`);

/** Names that are protected at any depth: in a project, and in a home folder. */
const PROJECT_PLACES: readonly string[] = words(
  ".github/agents .github/hooks .github/copilot .github/extensions mise/config.toml mise/config.local.toml",
);
const HOME_PLACES: readonly string[] = words(`
  .config/git .config/mise .config/mise.toml .config/fish .config/systemd .config/autostart .config/environment.d .config/opencode .config/kilo .config/goose
  library/launchagents
`);

/**
 * Lists of servers and hooks in a hidden folder. Agent programs keep such lists; an unknown program may have
 * `.foo/mcp.json`.
 */
const AGENT_FILE = /^(?:hooks|mcp(?:[_-](?:config|settings|servers))?)\.(?:jsonc?|toml|ya?ml)$/;

/** Paths that are protected only at the top of a workspace. */
const TOP_PLACES: readonly string[] = words("subagents data/subagents config/agents.yaml");

/**
 * Paths that are protected only in a home folder: programs on PATH, start-up files of sessions, and the configuration
 * of editors, build tools and package managers, where an entry can be a command. The same names in a project are
 * source.
 */
const ONLY_HOME_PLACES: readonly string[] = words(`
  bin .bin .local/bin .local/share/applications .local/share/systemd .local/share/dbus-1 .local/share/autostart
  .local/share/nautilus .local/share/nvim .local/share/code-server .local/lib .local/etc .local/state/nix
  .config/autostart-scripts .config/plasma-workspace .config/upstart .config/i3 .config/sway .config/hypr .config/awesome
  .config/bspwm .config/openbox .config/xsessions .config/lxsession .config/kitty .config/alacritty .config/wezterm
  .config/ghostty .config/tmux .config/zsh .config/bash .config/nushell .config/powershell .config/xonsh .config/direnv
  .config/starship.toml .config/user-dirs.dirs .config/mimeapps.list .config/gdb .config/ripgrep
  .config/nvim .config/vim .config/emacs .config/doom .config/helix .config/zed .config/micro .config/kak .config/sublime-text
  .config/code .config/vscodium .config/cursor .config/jetbrains .config/mcp .config/claude .config/codex
  .config/pip .config/pypoetry .config/uv .config/npm .config/yarn .config/pnpm .config/cargo .config/composer .config/go
  .config/nix .config/nixpkgs .config/home-manager .config/containers .config/gh
  .xmonad .i3 .fluxbox .kde .kde4 .gnomerc .xbindkeysrc .dmrc .oh-my-zsh .zsh .zsh.d .zfunc .zgen .zplug .bashrc.d .bash.d
  .bash_completion .bash_completion.d .profile.d .inputrc.d .config.fish .nix-profile .nix-defexpr
  .vim .nvim .emacs.d .doom.d .spacemacs .spacemacs.d .nanorc .sublime .vscode-server .vscode-oss .vscode-remote .cursor-server
  .ideavimrc .gdbinit.d .lldb .pythonrc .pythonstartup .pystartup .ipython .jupyter .juliarc.jl .julia/config
  .psqlrc .sqliterc .mongorc.js .myclirc .curlrc .wgetrc .aria2 .mailcap .ansible.cfg .ansible .terraformrc .tofurc
  .cargo/config .cargo/config.toml .cargo/bin .cargo/env .rustup .gradle/init.gradle .gradle/init.gradle.kts .gradle/init.d
  .gradle/gradle.properties .m2/settings.xml .m2/settings-security.xml .m2/extensions.xml .m2/toolchains.xml .sbt .ivy2
  .ant .mill .lein .clojure .pip .pydistutils.cfg .pypirc .condarc .conda .mambarc .pyenv .asdf .asdfrc .tool-versions .mise .rbenv
  .rvm .rvmrc .gemrc .bundle .nvm .nvmrc .volta .fnm .sdkman .jenv .goenv .deno .bun .bunfig.toml .yarn .pnpmrc .pnpm .composer
  .go .ghcup .cabal .stack .opam .elan .hex .mix .nuget .dotnet
  .git-template .git_template .gitattributes .subversion .docker .kube .aws
  library/launchdaemons library/preferences library/services library/startupitems
  .crontab .forward .procmailrc .rhosts .shosts .k5login .hushlogin
  .selected_editor .terminfo .lesskey .lessfilter .dir-locals-2.el .hammerspoon .mutt .muttrc.d .irssi .weechat .mpv .mplayer
  .node_modules .node_libraries .npm-global .npm-packages go/bin .gem perl5 .perl5 .cpan .cpanm .luarocks .nimble .choosenim
  .pub-cache .swiftpm .krew .foundry .vagrant.d .packer.d .groovy .ammonite .julia .aliases .functions .exports .path .extra
  .zim .zinit .antigen .antidote .prezto .zprezto .fzf .bash_it .bash-it .oh-my-bash .rpmmacros .buckconfig .icewm .fvwm .e
  .enlightenment .qtile .dwm .herbstluftwm .screenlayout .fehbg .xscreensaver .xdefaults .xmodmap .atom .guile
  .local/sbin .local/libexec .local/share/mise .local/share/pnpm .local/share/fnm .local/share/uv .local/share/pipx
  .local/share/nemo .local/share/kio .local/share/kservices5 .local/share/plasma .local/share/gnome-shell
  .local/share/cinnamon .local/share/thumbnailers .local/share/vim .local/share/emacs .local/share/jupyter
  n/bin miniconda3 anaconda3 miniforge3 mambaforge google-cloud-sdk snap library/keybindings
  .config
`);

/**
 * Unlisted entries at the top of a home folder that look like start-up files or settings of a program: `.foorc`,
 * `.foo.conf`, `.foo_profile`.
 */
const HOME_SETTING =
  /^\..*(?:rc|profile|login|logout|env|environment|aliases|init|startup)$|^\..+\.(?:conf|cfg|ini|toml|ya?ml|jsonc?|xml|lua|el|vim|[cm]?js|ts|py|rb|pl|sh|bash|zsh|fish|ksh|csh|nu|d|local|rc)$/;
/**
 * Hidden entries at the top of a home folder, and entries of `.local/share`, that are data: caches, histories, locks
 * and drafts, and files that were quarantined. In the folders of build tools only the listed places are protected.
 * Every other hidden entry may belong to a program that executes it or reads it as settings later.
 */
const HOME_DATA =
  /^\.(?:cache|npm|cargo|gradle|m2|pki|thumbnails|trash.*|nv|lesshst|viminfo.*|wget-hsts|xsession-errors.*|(?:ice|x)authority.*|sudo_as_admin_successful|ds_store|directory|localized|motd_shown|goutputstream-.*|nfs[0-9a-f]+|fuse_hidden.*|~lock\..*|#.*|.*\.sw[a-p]|.*[_-]history(?:-.*)?)$|^(?:trash|recently-used\..*|man|icons|fonts)$|(?:^|\.)refused-[0-9a-f]{6}$/;
/** Folders of programs in a hidden folder of a home folder, such as `.foo/bin`, which start-up files add to PATH. */
const HOME_PROGRAMS: ReadonlySet<string> = new Set(["bin", "sbin", "shims"]);

const names = new Set([...PROJECT_FOLDERS, ...PROJECT_FILES, ...HOME_FOLDERS, ...HOME_FILES]);
const places = [...PROJECT_PLACES, ...HOME_PLACES];

/**
 * Converts paths relative to the workspace to paths relative to a home folder: a path in the home folder begins with
 * `cut`; without it, and with `add` in front, it is relative to the home folder. For a workspace inside of the home
 * folder, `cut` is empty.
 */
export type HomeAnchor = Readonly<{ cut: string; add: string }>;

/** Places that are protected only on this machine or in this workspace. */
export type LocalPlaces = Readonly<{
  homes?: readonly HomeAnchor[];
  /** Paths that git's configuration names as a program or as configuration, as `configuredPlace` writes them. */
  configured?: readonly string[];
}>;

/** The form of a path in `LocalPlaces.configured`; it is relative to the workspace. */
export const configuredPlace = (path: string): string => stepsOf(path).join("/");

/** The protected entry that a path is or is inside of, or `undefined`. */
export function protectedPart(path: string, { homes = [], configured = [] }: LocalPlaces = {}): string | undefined {
  const steps = stepsOf(path);
  const name = steps.find((step) => names.has(step));
  if (name !== undefined) return name;
  const whole = `/${steps.join("/")}/`;
  return (
    places.find((place) => whole.includes(`/${place}/`)) ??
    steps.find((step, at) => AGENT_FILE.test(step) && steps[at - 1]?.startsWith(".")) ??
    TOP_PLACES.find((place) => whole.startsWith(`/${place}/`)) ??
    configured.find((place) => whole.startsWith(`/${place}/`)) ??
    inHomes(steps, homes)
      .map(homePart)
      .find((part) => part !== undefined)
  );
}

/** The protected entry of a home folder; entries that contain the workspace are not protected by this. */
function homePart({ inner, above }: InHome): string | undefined {
  const counts = (place: string): boolean =>
    `${inner}/`.startsWith(`${place}/`) && !`${above}/`.startsWith(`${place}/`);
  const listed = ONLY_HOME_PLACES.find(counts);
  if (listed !== undefined) return listed;
  const [first = "", second = ""] = inner.split("/");
  if (HOME_SETTING.test(first) && counts(first)) return first;
  const programs = `${first}/${second}`;
  if (first.startsWith(".") && HOME_PROGRAMS.has(second) && counts(programs)) return programs;
  const entry = homeEntry(inner);
  return entry !== undefined && counts(entry) ? entry : undefined;
}

/**
 * The hidden entry of a home folder that a path is or is inside of, unless it is data. In `.local`, each entry counts.
 */
function homeEntry(inner: string): string | undefined {
  const [first = "", second, third] = inner.split("/");
  if (!first.startsWith(".") || HOME_DATA.test(first)) return undefined;
  if (first !== ".local") return first;
  if (second === undefined || second === "state" || HOME_DATA.test(second)) return undefined;
  if (second !== "share") return `.local/${second}`;
  return third === undefined || HOME_DATA.test(third) ? undefined : `.local/share/${third}`;
}

/**
 * True for an entry of a home folder that is on no list: it is protected only because it is hidden. Other programs of
 * the person often write into such hidden folders.
 */
export function isUnlisted(path: string, local: LocalPlaces): boolean {
  const part = protectedPart(path, local);
  return part !== undefined && inHomes(stepsOf(path), local.homes ?? []).some(({ inner }) => isOnlyHidden(inner, part));
}

function isOnlyHidden(inner: string, part: string): boolean {
  return homeEntry(inner) === part && !names.has(part) && !ONLY_HOME_PLACES.includes(part) && !HOME_SETTING.test(part);
}

/**
 * True for a folder above a protected path. If a symbolic link took the place of the folder, it would replace the
 * protected path.
 */
export function isAbovePlace(path: string, { homes = [], configured = [] }: LocalPlaces = {}): boolean {
  const steps = stepsOf(path);
  const whole = `/${steps.join("/")}`;
  return (
    places.some((place) => prefixesOf(place).some((prefix) => whole.endsWith(`/${prefix}`))) ||
    [...TOP_PLACES, ...configured].some((place) => place.startsWith(`${whole.slice(1)}/`)) ||
    inHomes(steps, homes).some(
      ({ inner, above }) =>
        !`${above}/`.startsWith(`${inner}/`) &&
        (HIDDEN.test(inner) || ONLY_HOME_PLACES.some((place) => place.startsWith(`${inner}/`))),
    )
  );
}

const split = (path: string): string[] => path.split("/").filter((step) => step !== "" && step !== ".");
const stepsOf = (path: string): string[] => split(path).map(foldFileName);

const prefixesOf = (place: string): string[] => {
  const steps = place.split("/");
  return steps.slice(1).map((_, at) => steps.slice(0, at + 1).join("/"));
};

/** Matches a hidden entry at the top of a home folder, which may contain a folder of programs. */
const HIDDEN = /^\.[^/]+$/;

/** The part of a path below a home folder, and the path of the workspace in that folder. */
type InHome = Readonly<{ inner: string; above: string }>;

function inHomes(steps: readonly string[], homes: readonly HomeAnchor[]): InHome[] {
  const whole = `${steps.join("/")}/`;
  return homes.flatMap(({ cut, add }) => {
    const [begin, above] = [stepsOf(cut).join("/"), stepsOf(add).join("/")];
    if (begin !== "" && !whole.startsWith(`${begin}/`)) return [];
    const rest = begin === "" ? whole : whole.slice(begin.length + 1);
    return [{ inner: split(`${above}/${rest}`).join("/"), above }];
  });
}

const allPlaces = [...places, ...TOP_PLACES, ...ONLY_HOME_PLACES];
const lasts = new Set([...names, ...allPlaces.flatMap((place) => place.split("/"))]);

/** Fast pre-check of one name: false means that it is neither protected nor above a protected path. */
export function mayBeProtected(name: string, local?: ReadonlySet<string>, folder = ""): boolean {
  if (LOCAL_FOLDER.test(folder)) return true;
  const folded = foldedName(name);
  return (
    folded.startsWith(".") ||
    HOME_PROGRAMS.has(folded) ||
    lasts.has(folded) ||
    AGENT_FILE.test(folded) ||
    local?.has(folded) === true
  );
}

/** A folder whose entries are protected in a home folder, whatever their names are. */
const LOCAL_FOLDER = /(?:^|\/)\.local(?:\/share)?$/i;

/** All names on the way to the configured places, for `mayBeProtected`. */
export const namesOnTheWay = ({ configured = [] }: LocalPlaces): ReadonlySet<string> =>
  new Set(configured.flatMap((place) => place.split("/")));

/** True for a name that is listed, in any spelling (case, accents, full-width letters). */
export const isListedName = (name: string): boolean => lasts.has(foldedName(name));

const foldedName = (name: string): string => (PLAIN.test(name) ? name : foldFileName(name));

/** Matches names that have a single spelling, so that they need no normalising. */
const PLAIN = /^[a-z0-9_.-]*[a-z0-9_-]$/;
