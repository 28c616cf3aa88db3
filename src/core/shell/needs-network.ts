import { words } from "../text/words.ts";
import { parseShell, type ShellWord } from "./parse.ts";
import { programName } from "./program-name.ts";
import { runnerIn } from "./runners.ts";

/** True for a command line with a program that usually works over the network, such as `npm install` or `curl`. */
export function needsNetwork(line: string): boolean {
  const parsed = parseShell(line);
  return "commands" in parsed && parsed.commands.some(({ words }) => usesNetwork(words));
}

function usesNetwork([first, ...args]: readonly ShellWord[]): boolean {
  if (first?.text === undefined) return false;
  const program = programName(first.text);
  const given = args.flatMap(({ text }) => (text === undefined ? [] : [text]));
  if (given.some((word) => /^(?:--help|--version|--offline)$/.test(word))) return false;
  if (ALWAYS.has(program)) return true;
  if (program === "rsync") return given.some((word) => /^[^-/][^/]*:/.test(word));
  if (/^python[\d.]*$/.test(program) && given[0] === "-m" && /^pip\d*$/.test(given[1] ?? ""))
    return isOnline("pip", given.slice(2));
  if (isOnline(program.replace(/^pip[\d.]+$/, "pip"), given)) return true;
  if (runnerIn([first, ...args]) === undefined) return false;
  return args.slice(0, MAX_WORDS).some(({ text = "" }, at) => {
    if (/\s/.test(text)) return needsNetwork(text);
    const behind = args.slice(at);
    return runnerIn(behind) === undefined && usesNetwork(behind);
  });
}

/** A program that another one runs is searched for in this many words. */
const MAX_WORDS = 20;

/** Programs that do nothing without a network. */
const ALWAYS = new Set(
  words(`
    curl wget ssh scp sftp ftp telnet nc ncat netcat ping traceroute dig nslookup host whois http https xh aria2c
    yt-dlp gh glab aws gcloud az doctl flyctl vercel netlify heroku
  `),
);

/** Subcommands that contact a server. They are recognised only if no option with a value precedes them. */
const online: Readonly<Record<string, ReadonlySet<string>>> = {
  git: new Set(words("clone fetch pull push ls-remote")),
  npm: new Set(
    words("install i ci add update up upgrade publish view info outdated audit search ping login create init"),
  ),
  pnpm: new Set(words("install i add update up upgrade publish view outdated audit dlx create fetch")),
  yarn: new Set(words("install add upgrade up publish info outdated audit dlx create")),
  bun: new Set(words("install i add update upgrade publish create")),
  npx: new Set(),
  bunx: new Set(),
  pip: new Set(words("install download wheel index search")),
  pipx: new Set(words("install upgrade run")),
  uv: new Set(words("sync add lock pip tool")),
  poetry: new Set(words("install add update lock publish")),
  cargo: new Set(words("install fetch update add publish search login")),
  go: new Set(words("get install mod")),
  docker: new Set(words("pull push login search build")),
  podman: new Set(words("pull push login search build")),
  gem: new Set(words("install update push fetch")),
  bundle: new Set(words("install update add")),
  composer: new Set(words("install update require")),
  apt: new Set(words("install update upgrade download")),
  "apt-get": new Set(words("install update upgrade download")),
  dnf: new Set(words("install update upgrade download")),
  yum: new Set(words("install update upgrade")),
  apk: new Set(words("add update upgrade fetch")),
  brew: new Set(words("install update upgrade fetch tap")),
  kubectl: new Set(words("get apply delete describe logs exec create rollout")),
  helm: new Set(words("install upgrade repo pull")),
  terraform: new Set(words("init plan apply")),
  dotnet: new Set(words("restore add")),
};

function isOnline(program: string, args: readonly string[]): boolean {
  if (!Object.hasOwn(online, program)) return false;
  const known = online[program]!;
  if (known.size === 0) return true;
  // `yarn` without arguments installs packages.
  const operands = args.filter((word) => !word.startsWith("-"));
  if (program === "yarn" && operands.length === 0) return true;
  return operands.slice(0, 2).some((word) => known.has(word));
}

/** True when the output of a command that failed says that it could not reach a network. */
export function missedNetwork(output: string): boolean {
  return MISSED.test(output.slice(-TAIL));
}

const TAIL = 8_000;
const MISSED = new RegExp(
  [
    "could not resolve (?:host|proxy|hostname)",
    "couldn't resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "no address associated with hostname",
    "nodename nor servname provided",
    "network is unreachable",
    "network is down",
    "no route to host",
    "unable to resolve host address",
    "failed to (?:lookup|resolve) (?:address|host)",
    "dns error",
    "no such host",
    "could not connect to server",
    "unable to look up",
    "\\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ENETDOWN)\\b",
    "getaddrinfo",
    "urlopen error",
    "NewConnectionError",
    "UnknownHostException",
  ].join("|"),
  "i",
);
