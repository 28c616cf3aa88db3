import { findArguments } from "./find-arguments.ts";
import { type Grammar, NO_OPTIONS, readOptions, type SortedArguments } from "./options.ts";
import type { ShellWord } from "./parse.ts";
import { awkReads, sedReads } from "./scripts.ts";

/**
 * The indexes of a known command's arguments that do more than read: options that write, run or configure, subcommands
 * that change something, operands that are written to. `undefined`: the command is not in the table.
 */
export function effectsOf(program: string, args: readonly ShellWord[]): readonly number[] | undefined {
  return WRAPPING.has(program) ? undefined : readingOf(program, args)?.effects;
}

/** Programs that run another command, which is judged separately. */
const WRAPPING: ReadonlySet<string> = new Set(["env", "command"]);

/**
 * The paths a command reads, when it is known to change nothing and to start nothing with these arguments; `undefined`
 * when that is not known. This is decided by lists of options known to be safe, never by the name of the program alone:
 * most programs that only read also have an option that writes or runs something.
 */
export function readOnlyPaths(program: string, args: readonly ShellWord[]): readonly string[] | undefined {
  if (Object.hasOwn(covered, program)) return undefined;
  const reading = readingOf(program, args);
  return reading?.effects.length === 0 && !reading.acts ? reading.paths : undefined;
}

/**
 * `acts`: the command is not read-only even with safe options, but a `*` in a permission rule may cover those options.
 */
type Reading = SortedArguments & Readonly<{ acts?: boolean }>;
type Check = (args: readonly ShellWord[]) => Reading;

function readingOf(program: string, args: readonly ShellWord[]): Reading | undefined {
  return Object.hasOwn(programs, program) ? programs[program]!(args) : undefined;
}

const COLOURS = "color color=";
const CONTEXT = "after-context= before-context= context=";
const HASH: Grammar = { flags: "btz", long: "binary text zero tag" };
const GREP: Grammar = {
  flags: "EFGPivwxclLqsonHhbTzaIrRU",
  valued: "eABCm",
  number: true,
  operands: "pattern",
  long:
    `${COLOURS} ${CONTEXT} ignore-case invert-match word-regexp line-regexp count files-with-matches files-without-match ` +
    "max-count= only-matching quiet silent no-messages byte-offset with-filename no-filename line-number initial-tab null text " +
    "binary-files= include= exclude= exclude-dir= recursive extended-regexp fixed-strings basic-regexp perl-regexp regexp=",
};

/** Programs that are read-only when used with these options only. */
const looking: Readonly<Record<string, Grammar>> = {
  ls: {
    flags: "1AaBCcdFfGghHiklLmnNopqrRsStuUvXx",
    long: `${COLOURS} all almost-all recursive reverse size human-readable inode full-time group-directories-first sort= time= time-style= format= directory`,
  },
  cat: {
    harmless: true,
    flags: "AbEensTtuv",
    long: "number number-nonblank show-all show-ends show-tabs squeeze-blank",
  },
  tac: { harmless: true },
  nl: { flags: "p", valued: "bfhinlsvw" },
  rev: { harmless: true },
  head: { flags: "qvz", valued: "nc", number: true, long: "lines= bytes= quiet silent verbose" },
  tail: { flags: "qvz", valued: "nc", number: true, long: "lines= bytes= quiet silent verbose" },
  wc: { harmless: true, flags: "clmwL", long: "bytes chars lines words max-line-length" },
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
  echo: { operands: "texts", flags: "neE", harmless: true },
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
  true: { operands: "texts", harmless: true },
  false: { operands: "texts", harmless: true },
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
  zgrep: GREP,
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
  tree: {
    flags: "adfilpshDCn",
    valued: "LPI",
    loneValues: true,
    long: "noreport dirsfirst gitignore prune filelimit=",
  },
  jq: {
    flags: "rncsSCMaej",
    operands: "pattern",
    long: "raw-output compact-output null-input slurp sort-keys exit-status monochrome-output tab",
  },
};

/** GNU awk opens a connection for a file with such a name. */
const AWK: Grammar = { valued: "Fv", operands: "script", badOperand: /^\/inet/, isReading: awkReads };

/** Programs that read, but need a rule; a `*` in it covers only these options. */
const covered: Readonly<Record<string, Grammar>> = {
  awk: AWK,
  gawk: AWK,
  mawk: AWK,
  nawk: AWK,
  xxd: { flags: "bCEeiup", valued: "cglsn", loneValues: true, most: 1 },
  hexdump: { flags: "bcCdovx", valued: "ns" },
  od: { flags: "abcdfilosxv", valued: "AjNtw", long: "address-radix= format= read-bytes= skip-bytes=" },
  strings: { flags: "aw", valued: "net", long: "bytes= encoding= radix=" },
  base64: { flags: "di", valued: "w", long: "decode ignore-garbage wrap=" },
  fold: { flags: "bs", valued: "w" },
  fmt: { flags: "ctsu", valued: "wgp" },
  paste: { flags: "sz", valued: "d" },
  join: { flags: "iz", valued: "12aetov" },
  column: { flags: "txeJ", valued: "csoN" },
  shuf: { flags: "erz", valued: "ni", long: "head-count= input-range= echo repeat zero-terminated" },
  iconv: { valued: "ft", flags: "cls", long: "from-code= to-code= list silent" },
  curl: {
    flags: "sSfLiIvgN046",
    valued: "HAem",
    operands: "texts",
    badOperand: /^(?!https?:\/\/|[\w.-]+(?::\d+)?(?:[/?#]|$))/i, // a URL with another scheme, such as `file:`, or with braces, such as `{file}:`
    badWord: /^(?:-[a-zA-Z0-9]*H|--h[a-z]*=)?@/, // `@FILE` as a header sends the lines of a file
    long:
      "silent show-error fail fail-with-body location include head verbose globoff header= user-agent= referer= max-time= " +
      "connect-timeout= retry= retry-delay= compressed http1.1 http2 ipv4 ipv6 max-redirs= no-buffer no-progress-meter",
  },
};

const GIT_LOG: Grammar = {
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

/** Placeholders and sort keys for signatures make git run the program that the repository names for them. */
const SIGNATURES = /%(?:[-+ ]?G|\(\*?signature)/;
const SORTS_BY_SIGNATURES = /%(?:[-+ ]?G|\(\*?signature)|^(?:--sort=)?[-*]*signature\b/;

/**
 * Subcommands of git that only list and show. A subcommand that creates something when it gets operands is accepted
 * only without operands.
 */
const gitLooking: Readonly<Record<string, Grammar>> = {
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
  "for-each-ref": { badWord: SORTS_BY_SIGNATURES, long: "count= sort= format= contains merged no-merged" },
  "count-objects": { flags: "vH", most: 0 },
  branch: {
    badWord: SORTS_BY_SIGNATURES,
    flags: "arv",
    most: 0,
    long: "all remotes verbose list show-current sort= format= no-color",
  },
  tag: { badWord: SORTS_BY_SIGNATURES, flags: "l", most: 0, long: "list sort= format=" },
  remote: { flags: "v", most: 0, long: "verbose" },
  reflog: { most: 0, long: "date= oneline" },
  stash: { operands: "texts", badOperand: /^(?!list$)/, most: 1 },
};

const REFSPECS = /^[+:]|::/;

/**
 * Subcommands of git that change something: a permission rule has to name them, and then a `*` in it covers these
 * options.
 */
const gitActing: Readonly<Record<string, Grammar>> = {
  grep: { ...GREP, flags: "EFGPivwxclLqnhHz", long: `${GREP.long ?? ""} cached untracked name-only full-name` },
  add: { flags: "AuNvn", long: "all update intent-to-add verbose dry-run" },
  commit: { flags: "aqvs", valued: "mF", long: "message= all quiet verbose signoff allow-empty file= dry-run" },
  push: { flags: "uqvn", badOperand: REFSPECS, long: "set-upstream dry-run quiet verbose tags follow-tags" },
  pull: { flags: "qv", badOperand: REFSPECS, long: "ff-only rebase no-rebase quiet verbose" },
  fetch: { flags: "qvpt", badOperand: REFSPECS, long: "all prune tags quiet verbose depth=" },
  clone: {
    flags: "qvn",
    valued: "b",
    badOperand: /::/,
    long: "depth= branch= single-branch quiet verbose no-tags no-checkout",
  },
  checkout: { flags: "bq", long: "quiet detach track no-track" },
  switch: { flags: "cq", long: "create quiet detach" },
  restore: { flags: "WSq", valued: "s", long: "staged worktree source= quiet" },
  merge: { flags: "qn", valued: "m", long: "no-ff ff ff-only squash no-commit abort continue quiet" },
  rebase: { flags: "q", long: "abort continue skip onto= quiet autostash" },
  "cherry-pick": { flags: "xn", long: "no-commit continue abort skip" },
  revert: { flags: "n", long: "no-commit continue abort skip no-edit" },
  reset: { flags: "q", long: "soft mixed quiet" },
  mv: { flags: "nkv", long: "dry-run verbose" },
  rm: { flags: "rnq", long: "cached quiet dry-run" },
  init: { flags: "q", long: "quiet initial-branch=" },
};

/**
 * Safe options of git before the subcommand. Other options configure git, run something, or lead to another repository.
 */
const GIT_BEFORE: Grammar = { valued: "C", long: "no-pager no-optional-locks literal-pathspecs version help" };

const git: Check = (args) => {
  const at = subcommandAt(args);
  const before = readOptions(GIT_BEFORE, args.slice(0, at));
  const name = args[at]?.text;
  const none: Reading = { ...before, paths: [], operands: [] };
  if (at >= args.length) return none;
  const table = name !== undefined && Object.hasOwn(gitLooking, name) ? gitLooking : gitActing;
  const grammar = name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
  // Every argument after an unknown subcommand may have an effect.
  const places = Array.from({ length: args.length - at }, (_, n) => at + n);
  if (grammar === undefined) return { ...none, effects: [...before.effects, ...places] };
  const own = readOptions({ badWord: SIGNATURES, ...grammar }, args.slice(at + 1));
  const isActing = table === gitActing || (name === "stash" && own.operands.length === 0);
  return {
    names: own.names,
    values: own.values,
    effects: [...before.effects, ...(isActing ? [at] : []), ...own.effects.map((place) => at + 1 + place)],
    operands: own.operands.map((place) => at + 1 + place),
    paths: own.paths,
    acts: isActing || before.names.has("C"),
  };
};

/** The index of the subcommand of git, after the options before it, some of which take a value. */
export function subcommandAt(args: readonly ShellWord[]): number {
  let at = 0;
  for (; at < args.length; at++) {
    const { text } = args[at]!;
    if (text === undefined || !text.startsWith("-")) break;
    if (/^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|super-prefix|config-env|attr-source))$/.test(text)) at++;
  }
  return at;
}

const SED: Grammar = {
  flags: "nErszu",
  valued: "el",
  operands: "script",
  isReading: sedReads,
  long: "quiet silent regexp-extended expression= separate null-data unbuffered posix",
};

/** sed is read-only only with scripts that print lines; other scripts need approval. */
const sed: Check = (args) => {
  const plain =
    args[0]?.text === "-n" &&
    /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(args[1]?.text ?? "") &&
    args.slice(2).every(({ text = "-" }) => !text.startsWith("-"));
  return { ...readOptions(SED, args), acts: !plain };
};

const TAR: Grammar = {
  flags: "tvzjJ",
  valued: "f",
  badWord: /^[^/]*:/, // a path such as `host:file` makes the command start a network program
  long: "list verbose file= gzip bzip2 xz zstd auto-compress exclude= wildcards",
};

/** In the first word of tar, letters need no dash. Their values follow in other words, so `f` has to be the last one. */
const tar: Check = (args) => {
  const [, letters] = /^([a-z]+)$/i.exec(args[0]?.text ?? "") ?? [];
  const bundle = letters === undefined ? args.slice(0, 1) : [{ text: /f./.test(letters) ? "-?" : `-${letters}` }];
  return { ...readOptions(TAR, [...bundle, ...args.slice(1)]), acts: true };
};

const simply =
  (isReading: (texts: readonly string[]) => boolean): Check =>
  (args) => {
    const texts = args.map(({ text = "\0" }) => text);
    const all = texts.map((_, at) => at);
    return { ...NO_OPTIONS, effects: isReading(texts) ? [] : all, operands: all, paths: [] };
  };

const special: Readonly<Record<string, Check>> = {
  cd: (args) => {
    const plain = args.length === 1 && !(args[0]!.text ?? "-").startsWith("-");
    return {
      ...NO_OPTIONS,
      effects: plain ? [] : args.map((_, at) => at),
      operands: [0],
      paths: [args[0]?.text ?? ""],
    };
  },
  printf: simply(([first = ""]) => !first.startsWith("-")),
  date: simply((texts) =>
    texts.every((arg) => /^(?:\+|-u$|-R$|-I\w*$|--utc$|--iso-8601(?:=\w+)?$|--rfc-3339=\w+$)/.test(arg)),
  ),
  command: simply(([first = "", ...rest]) => /^-[vV]$/.test(first) && rest.every((arg) => !arg.startsWith("-"))),
  sed,
  tar,
  find: findArguments,
  git,
};

const programs: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    Object.entries({ ...looking, ...covered }).map(([name, grammar]): [string, Check] => [
      name,
      (args) => readOptions(grammar, args),
    ]),
  ),
  ...special,
};
