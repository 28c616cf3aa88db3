type Env = Readonly<Record<string, string | undefined>>;

/** The variables of the user that programs and tools may see; everything else stays with us, keys above all. */
export const PASSED_VARIABLES: readonly string[] = [
  ...["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "LOGNAME"],
  ...["LC_ALL", "LC_CTYPE", "TZ", "COLORTERM", "NO_COLOR"],
  // what Windows programs do not start without
  ...["SystemRoot", "SYSTEMROOT", "ComSpec", "PATHEXT", "USERPROFILE", "TEMP", "TMP"],
];

/** The part of an environment that is passed on: the usual names, and those that the user added. Names are exact. */
export function passedEnv(env: Env, more: readonly string[] = []): Record<string, string> {
  const names = new Set([...PASSED_VARIABLES, ...more]);
  return Object.fromEntries([...names].flatMap((name) => (Object.hasOwn(env, name) && env[name] !== undefined ? [[name, env[name]]] : [])));
}

/** True for a variable that decides which code runs or where it looks: a task must not set it, not even for itself. */
export function steersPrograms(name: string): boolean {
  return STEERING.test(name);
}

/** An allowed command must stay the same command: loaders, search paths, start-up files, wrappers, proxies, endpoints. */
const STEERING = new RegExp(
  `^(?:${[
    ...["PATH", "HOME", "SHELL", "IFS", "ENV", "PS[0-4]", "CDPATH", "GLOBIGNORE", "SHELLOPTS", "BASHOPTS", "FPATH", "TMPDIR", "TEMP", "TMP"],
    ...["PROMPT_COMMAND", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "COMSPEC", "PATHEXT"],
    ...["CC", "CXX", "LD", "AR", "AS", "CFLAGS", "LDFLAGS", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "TERMINFO.*", "XDG_.*", "APPDATA"],
    ...["BASH_.*", "ZDOTDIR", "LD_.*", "DYLD_.*", "GIT_.*", "SSH_.*", "NODE_.*", "NPM_.*", "NVM_.*", "YARN_.*", "PNPM_.*", "BUN_.*", "DENO_.*"],
    ...["PYTHON.*", "PIP_.*", "PERL.*", "RUBY.*", "BUNDLE_.*", "GEM_.*", "CARGO.*", "RUST.*", "GO.*", "CGO_.*", "JAVA.*", "_JAVA.*", "JDK_.*", "MAVEN_.*", "GRADLE_.*"],
    ...["PHP.*", "LUA_.*", "TCL.*", "R_.*", "JULIA_.*", "DOTNET_.*", "COR.*_PROFILER.*", "DOCKER_.*", "KUBECONFIG", "AWS_.*", "AZURE_.*", "GOOGLE_.*"],
    ...["SUBCREW_.*", ".*_PROXY", ".*_PRELOAD", ".*_OPTIONS", ".*_ENDPOINT", ".*_BASE_URL", "SSL_.*", "CURL_.*", "REQUESTS_.*", "OPENSSL_.*", "GPG.*", "DBUS_.*"],
  ].join("|")})$`,
  "i",
);
