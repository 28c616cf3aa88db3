import fc from "fast-check";
import { expect } from "vitest";
import { judge } from "../../src/core/policy/judge.ts";
import { createPolicy } from "../../src/core/policy/policy.ts";
import { parseRules } from "../../src/core/rules/rule.ts";
import { firstThatChanges, type TrialPlace } from "./commands.ts";
import type { Tries } from "./mutate.ts";

/** Commands that a rule ending in `*` allows for reading; none of these programs writes without a special option. */
const READERS = [
  ...["git", "git log", "git diff", "git show", "git blame", "git grep", "git branch", "git tag", "git stash"],
  ...["git remote", "git reflog", "git status", "git ls-files", "git rev-list", "git shortlog", "git -C sub"],
  ...["git describe", "git cat-file", "git for-each-ref", "git rev-parse", "git config", "git worktree", "git notes"],
  ...["find", "sort", "uniq", "sed", "awk", "gawk", "mawk", "tar", "grep", "rg", "ls", "cat", "head", "tail", "wc"],
  ...["cut", "diff", "stat", "file", "du", "tree", "xxd", "hexdump", "od", "shuf", "env", "xargs", "nice", "timeout"],
  ...["less", "more", "column", "jq", "date", "fold", "iconv", "strings", "paste", "join", "comm", "nohup", "time"],
  ...["printf", "echo", "seq", "which", "cksum", "md5sum", "sha256sum", "tr", "nl", "fmt", "command", "rev"],
  ...[
    "bash",
    "sh",
    "vim",
    "stdbuf",
    "setsid",
    "flock",
    "ionice",
    "unzip",
    "base64",
    "curl",
    "ssh",
    "man",
    "go",
    "journalctl",
  ],
  ...[
    "git log --oneline",
    "git diff --stat",
    "sort -r",
    "sed -n",
    "sed -e p",
    "find .",
    "find . -name f1",
    "tar tf",
    "awk -F:",
  ],
  ...[
    "xargs grep",
    "xargs -n1 sort",
    "env LANG=C sort",
    "timeout 5 sort",
    "nice sort",
    "nice -n 5 find",
    "grep -r x",
    "ls | sort",
  ],
];
/** Options of many programs, mainly those with which a program writes a file; `new` is a file that no rule allows. */
const WORDS = [
  ...[
    "f1",
    "f2",
    "sub",
    "sub/f3",
    ".",
    "new",
    "new2",
    "HEAD",
    "--",
    "-",
    "*",
    "f*",
    "1",
    "x",
    "a",
    "link",
    "touch new",
  ],
  ...[
    "-o new",
    "-onew",
    "-o",
    "--output=new",
    "--output new",
    "--out=new",
    "--outp=new",
    "--outpu new",
    "-O new",
    "-Onew",
  ],
  ...[
    "-uo new",
    "-ro new",
    "-no new",
    "-nonew",
    "-T .",
    "-S 1",
    "-S1",
    "--compress-program=touch",
    "--compress-prog touch",
  ],
  ...["-i", "-i.new", "-ni", "-Ei", "-in", "-n", "-e p", "-ne p", "-s", "-z", "-r", "-E", "--in-place", "--in-pl=.new"],
  ...[
    "'w new'",
    "'1w new'",
    "-e 'w new'",
    "-n 'w new'",
    "'s/o/x/w new'",
    "s/o/x/wnew",
    "'1e touch new'",
    "'s/.*/touch new/e'",
  ],
  ...[
    "'e touch new'",
    "'p;w new'",
    "-f f1",
    "-ff1",
    "--file=f1",
    "--expression='w new'",
    "'$w new'",
    "'/o/w new'",
    "'{w new'",
  ],
  ...[
    "'a\\' -e 'w new'",
    "'y/o/x/;w new'",
    "'s/a/b/;;w new'",
    "'1,$ w new'",
    "'1!w new'",
    "'W new'",
    "'s#o#x#gpw new'",
  ],
  ...[
    "-exec touch new ';'",
    "-exec touch new {} +",
    "-execdir touch new ';'",
    "-ok touch new ';'",
    "-delete",
    "-fls new",
  ],
  ...[
    "-fprint new",
    "-fprint0 new",
    "-fprintf new x",
    "-name f1",
    "-newer f1",
    "-type f",
    "-size 0",
    "-quit",
    "( -delete )",
  ],
  ...[
    "'{print > \"new\"}'",
    "'{print >> \"new\"}'",
    "'BEGIN{system(\"touch new\")}'",
    "'{print | \"touch new\"}'",
    "'{print}'",
  ],
  ...["'BEGIN{\"touch new\" | getline}'", '\'BEGIN { printf("x") > "new" }\'', "-v x=1", "-F:", "'BEGIN{@load \"x\"}'"],
  ...[
    "-o/ws/new '{print}'",
    "-dnew 1",
    "-pnew 1",
    "--dump-variables=new 1",
    "--profile=new 1",
    "-i inplace 1",
    "-l x",
    "-E f1",
  ],
  ...[
    "'{print>\"new\"}'",
    "'{ print(1)>\"new\" }'",
    '\'BEGIN{x="sys""tem";@x("touch new")}\'',
    "'BEGIN{close(\"a\")}'",
  ],
  ...[
    "xf f1",
    "-xf f1",
    "-cf new f1",
    "cf new f1",
    "-tf f1",
    "tf f1",
    "-rf f1 f2",
    "--create",
    "-f new",
    "--to-command=touch",
  ],
  ...[
    "--checkpoint=1",
    "--checkpoint-action=exec='touch new'",
    "-I 'touch new'",
    "--use-compress-program='touch new'",
    "-F 'touch new'",
  ],
  ...[
    "--info-script='touch new'",
    "--index-file=new",
    "-C sub",
    "--rsh-command=touch",
    "-g new",
    "-tvf f1",
    "--volno-file=new",
  ],
  ...[
    "-c alias.x='!touch new' x",
    "-c core.pager='touch new' -p log",
    "-c core.fsmonitor='touch new' status",
    "--exec-path=.",
  ],
  ...[
    "--config-env=a.b=X",
    "-p",
    "--paginate",
    "--git-dir=sub",
    "--work-tree=.",
    "-c diff.external='touch new'",
    "--ext-diff",
  ],
  ...[
    "--textconv",
    "--no-index f1 f2",
    "-Otouch",
    "-O'touch new' two",
    "--open-files-in-pager='touch new'",
    "branch new",
  ],
  ...[
    "-m",
    "-d new",
    "-D new",
    "-f new",
    "-a",
    "-v",
    "-l",
    "add n u",
    "push",
    "pop",
    "drop",
    "clear",
    "list",
    "expire --all",
  ],
  ...[
    "rename a b",
    "prune",
    "show",
    "set-url a b",
    "-b new",
    "--edit-description",
    "--set-upstream-to=x",
    "-u x",
    "--track",
  ],
  ...[
    "user.name x",
    "--global user.name x",
    "--unset a.b",
    "--add a.b c",
    "init new",
    "worktree add new",
    "clone . new",
    "gc",
  ],
  ...[
    "archive -o new HEAD",
    "bundle create new HEAD",
    "format-patch -1",
    "checkout -b new",
    "commit --allow-empty -m x",
  ],
  ...[
    "update-ref refs/heads/new HEAD",
    "symbolic-ref HEAD refs/x",
    "hash-object -w f1",
    "log",
    "log -1",
    "status",
    "diff",
  ],
  ...[
    "log --output=new",
    "diff --output=new",
    "show --output=new",
    "difftool -y -x 'touch new'",
    "help -a",
    "bugreport -o .",
  ],
  ...[
    "--pre touch",
    "--pre=touch",
    "--hostname-bin=touch",
    "-z -j1",
    "-r f1 new",
    "-R f1",
    "f1 new",
    "-r -p f1 new",
    "-A f1",
  ],
  ...[
    "-s 'now'",
    "--set=now",
    "-d now",
    "+%s",
    "-f f1",
    "-n 1",
    "-R new",
    "-P touch",
    "-K f1",
    "'+!touch new' f1",
    "-t x",
  ],
  ...[
    "touch new",
    "-I{} touch new",
    "-n1 touch",
    "-a f1 touch",
    "sh -c 'touch new'",
    "-S 'touch new'",
    "X=1 touch new",
    "-i touch new",
  ],
  ...[
    "-- touch new",
    "5 touch new",
    "-k 1 5 touch new",
    "-oL touch new",
    "-n 5 touch new",
    "-c 'touch new'",
    "-c touch\\ new",
  ],
  ...[
    "-e 'system(\"touch new\")'",
    "-pi -e 1 f1",
    '-e \'require("fs").writeFileSync("new","")\'',
    '-c \'open("new","w")\'',
  ],
  ...[
    "> new",
    ">new",
    ">> f1",
    "2> new",
    "&> new",
    ">| new",
    "| tee new",
    "; touch new",
    "&& touch new",
    "$(touch new)",
    "`touch new`",
  ],
  ...[
    "<(touch new)",
    ">(touch new)",
    "\n touch new",
    "& touch new",
    "${X:=$(touch new)}",
    "$X",
    "{new,-o}",
    "$'-o' new",
    "-\\o new",
  ],
  ...[
    "'-o' new",
    '"-o" new',
    "-''o new",
    "--outpu\\t=new",
    "--pretty --output=new",
    "-U --output=new",
    "--abbrev -o new",
    "-g -s f1 new",
    "tfI f1 'sh -c \"touch new\"'",
    '\'/"/{print > "new"} /"/\'',
    "--replace touch new",
    "-k f1",
    "-9 f1",
    "-d f1",
    "-c f1",
    "--suffix=x f1",
    "if=f1 of=new",
    "-a new",
  ],
];

const line = fc.tuple(
  fc.constantFrom(...READERS),
  fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map((words) => words.join(" ")),
);

const shell = { sandboxed: false, waived: true, roots: ["/ws"] };

/** True when a rule for this program with any arguments covers the command. */
function isCovered([reader, words]: readonly [string, string]): boolean {
  const policy = createPolicy("default", { allow: parseRules([`bash(${reader} *)`]) });
  const subjects = [{ kind: "command" as const, command: `${reader} ${words}` }];
  return judge(policy, { tool: "bash", does: "exec", effect: "write", subjects, shell }).decision === "allow";
}

/** The command lines, of all that are tried, that rules ending in `*` allow. */
export function coveredCommands({ numRuns, seed }: Tries): string[] {
  const drawn = fc.sample(line, seed === undefined ? { numRuns } : { numRuns, seed });
  return [...new Set(drawn.filter(isCovered).map((words) => words.join(" ")))];
}

/** Programs that accept any argument, or that wait for a network, a terminal or the end of a command. */
const UNHURRIED = new Set(
  "echo printf seq which command curl ssh man less more go journalctl vim bash sh xargs nohup time flock".split(" "),
);

/** The words that make most programs write: a second file name, and the usual options. */
const FEW = ["f1 new", "-o new", "-uo new", "--output=new", "--outp=new", "-U --output=new"];

/**
 * The allowed command lines among all combinations of a rule with a word that makes some program write the file `new`.
 * Random combinations meet a certain program with a certain word too rarely.
 */
export function coveredPairs(words: "few" | "all"): string[] {
  const writing = words === "few" ? FEW : WORDS.filter((word) => word.includes("new"));
  const all = READERS.filter((reader) => !UNHURRIED.has(reader)).flatMap((reader) =>
    writing.map((word) => [reader, word] as const),
  );
  return all.filter(isCovered).map((words) => words.join(" "));
}

/** FUZZ-09: runs the commands that such rules allow in a sandbox. No file may change. */
export function rulesOnlyRead(commands: readonly string[], at: TrialPlace): void {
  const found = firstThatChanges(commands, at);
  if (found !== undefined) expect.fail(`a rule that ends in * covers a command that changes a file: ${found}`);
}
