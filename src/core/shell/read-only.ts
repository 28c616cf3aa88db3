/**
 * The paths a command reads, when it is known to change nothing and to start nothing with these arguments; `undefined` when
 * that is not known. What counts is a list of options known to be safe, never the name of the program alone: most programs
 * that only read also have an option that writes or runs something.
 */
export function readOnlyPaths(program: string, args: readonly string[]): readonly string[] | undefined {
  return Object.hasOwn(programs, program) ? programs[program]!(args) : undefined;
}

type Check = (args: readonly string[]) => readonly string[] | undefined;

/** What options of a program are safe. Long ones end with `=` when they take a value. */
type Safe = Readonly<{
  flags?: string;
  /** Letters that take a value. */
  valued?: string;
  long?: string;
  /** `-20` is a number. */
  number?: true;
  /** What the words after the options are; `pattern` is one text, then paths. */
  operands?: "paths" | "texts" | "pattern";
  most?: number;
}>;

const COLOURS = "color color=";
const CONTEXT = "after-context= before-context= context=";
const HASH: Safe = { flags: "btz", long: "binary text zero tag" };
const GREP: Safe = {
  flags: "EFGPivwxclLqsonHhbTzaIrU",
  valued: "eABCm",
  number: true,
  operands: "pattern",
  long:
    `${COLOURS} ${CONTEXT} ignore-case invert-match word-regexp line-regexp count files-with-matches files-without-match ` +
    "max-count= only-matching quiet silent no-messages byte-offset with-filename no-filename line-number initial-tab null text " +
    "binary-files= include= exclude= exclude-dir= recursive extended-regexp fixed-strings basic-regexp perl-regexp regexp=",
};

const simple: Readonly<Record<string, Safe>> = {
  ls: {
    flags: "1AaBCcdFfGghHiklLmnNopqrRsStuUvXx",
    long: `${COLOURS} all almost-all recursive reverse size human-readable inode full-time group-directories-first sort= time= time-style= format= directory`,
  },
  cat: { flags: "AbEensTtuv", long: "number number-nonblank show-all show-ends show-tabs squeeze-blank" },
  tac: {},
  nl: { flags: "p", valued: "bfhinlsvw" },
  rev: {},
  head: { flags: "qvz", valued: "nc", number: true, long: "lines= bytes= quiet silent verbose" },
  tail: { flags: "qvz", valued: "nc", number: true, long: "lines= bytes= quiet silent verbose" },
  wc: { flags: "clmwL", long: "bytes chars lines words max-line-length" },
  cut: {
    flags: "snz",
    valued: "dfbc",
    long: "delimiter= fields= bytes= characters= complement only-delimited output-delimiter=",
  },
  tr: { flags: "cCdst", operands: "texts", long: "delete complement squeeze-repeats truncate-set1" },
  sort: {
    flags: "bdfghiMnRrVuzcCsm",
    valued: "kt",
    long: "key= field-separator= numeric-sort reverse unique ignore-case human-numeric-sort version-sort check stable",
  },
  uniq: {
    flags: "cdiuDz",
    valued: "fsw",
    most: 1,
    long: "count repeated unique ignore-case skip-fields= skip-chars= check-chars=",
  },
  comm: { flags: "123z", long: "check-order nocheck-order output-delimiter= total" },
  diff: {
    flags: "qrsuNbBwiEZaytcp",
    valued: "UC",
    long: `${COLOURS} brief unified unified= recursive new-file ignore-all-space ignore-space-change ignore-blank-lines ignore-case side-by-side text suppress-common-lines width=`,
  },
  cmp: { flags: "bls", valued: "ni", long: "print-bytes verbose silent quiet bytes=" },
  stat: { flags: "Lft", valued: "c", long: "format= printf= dereference file-system terse" },
  file: { flags: "bikLhN", long: "brief mime mime-type mime-encoding dereference" },
  du: {
    flags: "abchHklLmsSx0",
    valued: "d",
    long: "all summarize human-readable total max-depth= apparent-size bytes exclude=",
  },
  df: { flags: "ahHiklPT", long: "human-readable all inodes local print-type" },
  pwd: { flags: "LP", most: 0 },
  echo: { operands: "texts", flags: "neE" },
  basename: { flags: "az", valued: "s", operands: "texts", long: "multiple suffix= zero" },
  dirname: { flags: "z", operands: "texts", long: "zero" },
  realpath: { flags: "emLPqsz", long: "relative-to= relative-base= no-symlinks" },
  readlink: { flags: "efmnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing no-newline" },
  whoami: { most: 0 },
  id: { flags: "Ggnruz", operands: "texts" },
  uname: { flags: "asnrvmpio", most: 0, long: "all kernel-name machine" },
  hostname: { most: 0 },
  arch: { most: 0 },
  nproc: { most: 0, long: "all" },
  true: { operands: "texts" },
  false: { operands: "texts" },
  seq: { flags: "w", valued: "fs", operands: "texts" },
  sleep: { operands: "texts" },
  which: { flags: "a", operands: "texts" },
  type: { flags: "aftpP", operands: "texts" },
  printenv: { operands: "texts" },
  env: { most: 0 },
  md5sum: HASH,
  sha1sum: HASH,
  sha256sum: HASH,
  sha512sum: HASH,
  cksum: {},
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: {
    flags: "iSsvwxclnNHhoqFPUapu0",
    valued: "egtTABCmMjdr",
    operands: "pattern",
    long:
      `${COLOURS} ${CONTEXT} ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches ` +
      "files-with-matches files-without-match line-number no-line-number hidden no-ignore glob= type= type-not= type-list max-count= " +
      "max-depth= json stats heading no-heading column multiline fixed-strings pcre2 sort= sortr= only-matching replace= trim vimgrep " +
      "null regexp= no-messages files with-filename no-filename text passthru max-columns= no-config",
  },
  tree: { flags: "adfilpshDCn", valued: "LPI", long: "noreport dirsfirst gitignore prune filelimit=" },
  jq: {
    flags: "rncsSCMaej",
    operands: "pattern",
    long: "raw-output compact-output null-input slurp sort-keys exit-status monochrome-output tab",
  },
};

const special: Readonly<Record<string, Check>> = {
  cd: (args) => (args.length === 1 && !args[0]!.startsWith("-") ? args : undefined),
  printf: (args) => (args[0]?.startsWith("-") ? undefined : []),
  date: (args) =>
    args.every((arg) => /^(?:\+|-u$|-R$|-I\w*$|--utc$|--iso-8601(?:=\w+)?$|--rfc-3339=\w+$)/.test(arg))
      ? []
      : undefined,
  command: (args) =>
    /^-[vV]$/.test(args[0] ?? "") && args.slice(1).every((arg) => !arg.startsWith("-")) ? [] : undefined,
  sed: (args) =>
    args[0] === "-n" &&
    /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(args[1] ?? "") &&
    args.slice(2).every((arg) => !arg.startsWith("-"))
      ? args.slice(2)
      : undefined,
  find: findPaths,
  git: gitPaths,
};

const programs: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    Object.entries(simple).map(([name, safe]): [string, Check] => [name, (args) => optionsOf(safe, args)?.paths]),
  ),
  ...special,
};

type Options = Readonly<{ names: ReadonlySet<string>; operands: readonly string[]; paths: readonly string[] }>;

function optionsOf(
  { flags = "", valued = "", long = "", number, operands: kind = "paths", most }: Safe,
  args: readonly string[],
): Options | undefined {
  const longs = new Set(long.split(" "));
  const names = new Set<string>();
  const operands: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--") {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (arg.startsWith("--")) {
      const [name, value] = splitOnce(arg.slice(2));
      const takesValue = longs.has(`${name}=`);
      if (value !== undefined ? !takesValue : !longs.has(name) && !takesValue) return undefined;
      if (value === undefined && !longs.has(name)) at++; // the value is the next word
      names.add(name);
    } else if (arg.startsWith("-") && arg !== "-") {
      if (number && /^-\d+$/.test(arg)) continue;
      const letters = arg.slice(1);
      const end = Array.from(letters).findIndex((letter) => !flags.includes(letter));
      if (end >= 0 && !valued.includes(letters.charAt(end))) return undefined;
      if (end === letters.length - 1) at++;
      for (const letter of letters.slice(0, end < 0 ? undefined : end + 1)) names.add(letter);
    } else operands.push(arg);
  }
  // One word with a pattern in it may become several: `uniq f*` writes to its second file.
  if (most !== undefined && (operands.length > most || args.some((arg) => /[*?[]/.test(arg)))) return undefined;
  const noPattern = names.has("e") || names.has("regexp") || names.has("files");
  const paths = kind === "texts" ? [] : kind === "pattern" && !noPattern ? operands.slice(1) : operands;
  return { names, operands, paths };
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

const FIND_TESTS = new Set(
  "print print0 prune o a not or and empty readable executable true false daystart depth mount xdev nouser nogroup ls quit".split(
    " ",
  ),
);
const FIND_VALUES = new Set(
  (
    "name iname path ipath wholename iwholename regex iregex regextype type xtype size mtime mmin atime amin ctime cmin newer perm user " +
    "group maxdepth mindepth links inum lname ilname printf"
  ).split(" "),
);

function findPaths(args: readonly string[]): readonly string[] | undefined {
  const paths: string[] = [];
  let at = 0;
  for (; at < args.length && !/^[-(!]/.test(args[at]!); at++) paths.push(args[at]!);
  for (; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "(" || arg === ")" || arg === "!" || arg === ",") continue;
    if (!arg.startsWith("-")) return undefined;
    if (FIND_VALUES.has(arg.slice(1))) at++;
    else if (!FIND_TESTS.has(arg.slice(1))) return undefined;
  }
  return paths;
}

const GIT_LOG: Safe = {
  flags: "puqwbMCiEFs",
  valued: "nUSGL",
  number: true,
  long:
    `${COLOURS} no-color oneline graph stat numstat shortstat name-only name-status patch no-patch all branches tags remotes decorate decorate= ` +
    "no-decorate abbrev-commit abbrev= pretty= format= date= since= until= after= before= author= committer= grep= max-count= skip= reverse " +
    "merges no-merges first-parent follow full-history topo-order date-order left-right cherry-pick cached staged unified= word-diff word-diff= " +
    "find-renames find-renames= diff-filter= check summary compact-summary exit-code quiet no-ext-diff no-textconv ignore-all-space " +
    "ignore-space-change raw source parents children no-renames relative-date patch-with-stat",
};

/** Only what lists and shows; a subcommand with operands that would create something may have none. */
const gitCommands: Readonly<Record<string, Safe>> = {
  log: GIT_LOG,
  show: GIT_LOG,
  diff: GIT_LOG,
  "rev-list": { ...GIT_LOG, long: `${GIT_LOG.long} count` },
  shortlog: { flags: "sne", long: "summary numbered email since= until= all no-merges group=" },
  status: {
    flags: "sbvz",
    long: "short branch porcelain porcelain= ignored untracked-files= long show-stash no-renames",
  },
  blame: { flags: "wlstefnMC", valued: "L", long: "porcelain line-porcelain show-email since= date=" },
  "ls-files": {
    flags: "comdsiuktvz",
    long: "cached others modified deleted stage ignored exclude-standard full-name error-unmatch",
  },
  "ls-tree": { flags: "rdtlz", long: "name-only name-status long full-name full-tree" },
  "rev-parse": {
    flags: "q",
    long: "abbrev-ref short short= show-toplevel verify git-dir is-inside-work-tree show-prefix symbolic-full-name quiet",
  },
  describe: { long: "tags always dirty abbrev= long all contains match= exact-match" },
  "cat-file": { flags: "tsep" },
  "merge-base": { flags: "a", long: "all is-ancestor fork-point" },
  "show-ref": { flags: "sd", long: "heads tags hash verify" },
  "for-each-ref": { long: "count= sort= format= contains merged no-merged" },
  "count-objects": { flags: "vH", most: 0 },
  branch: { flags: "arv", most: 0, long: "all remotes verbose list show-current sort= format= no-color" },
  tag: { flags: "l", most: 0, long: "list sort= format=" },
  remote: { flags: "v", most: 0, long: "verbose" },
  reflog: { most: 0, long: "date= oneline" },
};

function gitPaths(args: readonly string[]): readonly string[] | undefined {
  const [name = "", ...rest] = args[0] === "--no-pager" ? args.slice(1) : args;
  if (name === "stash") return rest.length === 1 && rest[0] === "list" ? [] : undefined;
  return Object.hasOwn(gitCommands, name) ? optionsOf(gitCommands[name]!, rest)?.paths : undefined;
}
