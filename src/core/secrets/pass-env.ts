type Env = Readonly<Record<string, string | undefined>>;

/** Common variables, and variables that Windows programs need to start. */
const PASSED =
  "PATH HOME LANG TERM TMPDIR USER SHELL LOGNAME LC_ALL LC_CTYPE TZ COLORTERM NO_COLOR " +
  "SystemRoot SYSTEMROOT ComSpec PATHEXT USERPROFILE TEMP TMP";

/**
 * The names of the variables that are passed to programs and tools. All other variables are withheld, above all keys.
 */
export const PASSED_VARIABLES: readonly string[] = PASSED.split(" ");

/**
 * The part of an environment that is passed on: the usual names, and the names that the user added. Names are exact.
 */
export function passedEnv(env: Env, more: readonly string[] = []): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of [...PASSED_VARIABLES, ...more]) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

/**
 * True for a variable that decides which code runs or where programs look for code: a task must not set it, not even
 * for itself.
 */
export function steersPrograms(name: string): boolean {
  return STEERING.test(name);
}

/**
 * Variables that change what an allowed command does: loaders, search paths, start-up files, wrappers, proxies,
 * endpoints.
 */
const NAMES =
  "PATH HOME SHELL IFS ENV PS[0-4] CDPATH GLOBIGNORE SHELLOPTS BASHOPTS FPATH ZDOTDIR TMPDIR TEMP TMP COMSPEC PATHEXT APPDATA " +
  "PROMPT_COMMAND EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE MAKEFLAGS MFLAGS GNUMAKEFLAGS KUBECONFIG " +
  "CC CXX LD AR AS CFLAGS LDFLAGS GCONV_PATH LOCPATH NLSPATH HOSTALIASES";
const FAMILIES =
  "BASH_ LD_ DYLD_ XDG_ TERMINFO GIT_ SSH_ SSL_ OPENSSL_ GPG DBUS_ CURL_ REQUESTS_ DOCKER_ AWS_ AZURE_ GOOGLE_ SUBCREW_ " +
  "NODE_ NPM_ NVM_ YARN_ PNPM_ BUN_ DENO_ PYTHON PIP_ PERL RUBY BUNDLE_ GEM_ CARGO RUST GO CGO_ JAVA _JAVA JDK_ MAVEN_ GRADLE_ " +
  "PHP LUA_ TCL R_ JULIA_ DOTNET_ COR_ CORECLR_";
const ENDINGS = "_PROXY _PRELOAD _OPTIONS _ENDPOINT _BASE_URL";

const either = (words: string): string => `(?:${words.split(" ").join("|")})`;
const STEERING = new RegExp(`^(?:${either(NAMES)}|${either(FAMILIES)}.*|.*${either(ENDINGS)})$`, "i");
