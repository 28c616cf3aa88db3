import { expect, test } from "vitest";
import { parseRules } from "../rules/rule.ts";
import { judge } from "./judge.ts";
import { createPolicy } from "./policy.ts";

function decide(command: string): string {
  const policy = createPolicy("bypass", { allow: [], deny: parseRules(["bash(rm *)"]) });
  const shell = { sandboxed: false, waived: true, roots: ["/ws"] };
  const subjects = [{ kind: "command" as const, command }];
  return judge(policy, { tool: "bash", does: "exec", effect: "write", subjects, shell }).decision;
}

test.each([
  "GIT_EXTERNAL_DIFF='rm a' git diff",
  "GIT_PAGER='rm a' git -p log",
  "PAGER='less; rm a' man ls",
  "PAGER='cat | sh -c \"rm a\"' git log",
  "EDITOR='rm a #' git commit",
  "VISUAL=/bin/rm crontab2 x",
  "GIT_SEQUENCE_EDITOR='rm a' git rebase -i main",
  "GIT_SSH_COMMAND='rm a;' git fetch",
  "GIT_SSH_COMMAND='ssh -o ProxyCommand=x' git fetch",
  "GIT_ASKPASS=rm git fetch",
  "RSYNC_RSH='rm a' rsync a host:b",
  "LESSOPEN='|rm a %s' less b",
  "LESSCLOSE='rm %s %s' less b",
  "LESS='+!rm a' less b",
  "BASH_ENV=a.sh bash -c true",
  "BASH_ENV='$(rm a)' bash -c true",
  "ENV='$(rm a)' sh -c true",
  "ENV=./a.sh sh -c true",
  "PROMPT_COMMAND='rm a' bash -c true",
  "PS4='$(rm a)' bash -xc true",
  "ZDOTDIR=. zsh -c true",
  "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm a' git x",
  "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='rm a' git log",
  "export GIT_CONFIG_KEY_0=alias.x; export GIT_CONFIG_VALUE_0='!rm a'; git x",
  "GIT_CONFIG_PARAMETERS=\"'alias.x=!rm a'\" git x",
  "GIT_CONFIG_GLOBAL=./config git status",
  "GIT_EXEC_PATH=./bin git status",
  "TAR_OPTIONS='--to-command=rm' tar xf a",
  "TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=rm' tar xf a",
  "MAKEFLAGS='--eval=x:;rm' make",
  "FZF_DEFAULT_COMMAND='rm a' fzf",
  "FZF_DEFAULT_OPTS=\"--preview='rm {}'\" fzf",
  "VIMINIT=':!rm a' vim b",
  "env PAGER='rm a' git log",
  "env -i PAGER='rm a' git log",
  "sudo PAGER='rm a' git log",
  "env 'BASH_FUNC_ls%%=() { rm a; }' bash -c ls",
  "export PAGER='rm a'; git log",
  "declare -x PAGER='rm a'; git log",
  "readonly PAGER='rm a'",
  "export $X; git log",
  'export PAGER="$X"; git log',
  "PAGER=$X git log",
  "PAGER+=' rm a' git log",
  "read PAGER <<< 'rm a'; export PAGER; git log",
  "printf -v PAGER '%s' 'rm a'; export PAGER; git log",
  "printf -vPAGER '%s' 'rm a'; export PAGER; git log",
  "X='rm a'; PAGER=$X git log",
  "CC='rm a' make",
  "make CC='rm a'",
  "UNHEARD_OF='sudo rm a' tool",
  "KUBECTL_EXTERNAL_DIFF='rm a' kubectl diff -f x",
  "npm_config_script_shell=rm npm test",
])("command variables: a deny rule for rm applies to %s", (command) => {
  expect(decide(command)).toBe("deny");
});

test.each([
  "PAGER=cat git log",
  "GIT_PAGER= git log",
  "GIT_EDITOR=true git commit --amend",
  "EDITOR='code --wait' git commit",
  "GIT_SSH_COMMAND='ssh -i key' git fetch",
  "GIT_CONFIG_GLOBAL=/dev/null git status",
  "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=x git commit -m y",
  "LESSOPEN='|lesspipe %s' less b",
  "LESS=FRX git log",
  "ENV=production node app.js",
  "PS4='+ ' bash -xc true",
  "SHELL=/bin/bash make",
  "MAKEFLAGS=-j4 make",
  "NODE_OPTIONS=--max-old-space-size=4096 npm test",
  "X=$(date) tool",
  "export PATH=$PATH:/opt/bin; tool",
  "MESSAGE='a (b) > c' tool",
  "printf COMMAND",
  "make CC=clang -j4 $TARGET",
  "cmd=$(which node); echo $cmd",
])("command variables: a deny rule for rm does not apply to %s", (command) => {
  expect(decide(command)).toBe("allow");
});

test.each([
  `perl -e 'system("rm a")'`,
  `perl -e 'system "rm", "a"'`,
  "perl -e 'print qx(rm a)'",
  "perl -ne 'print `rm a`' b",
  `python3 -c 'import os; os.system("rm a")'`,
  `python3.11 -c "import subprocess; subprocess.run(['rm', 'a'])"`,
  `/usr/bin/python -c 'import os; os.system("sudo -n /bin/rm a")'`,
  "ruby -e 'puts `rm a`'",
  "ruby -e 'puts %x(rm a)'",
  `node -e 'require("child_process").execSync("rm a")'`,
  `bun -e 'Bun.spawn(["rm", "a"])'`,
  `php -r 'shell_exec("rm a");'`,
  `lua -e 'os.execute("cd x && rm a")'`,
  "sqlite3 :memory: '.shell rm a'",
  "sqlite3 b.db -cmd '.system rm a' 'select 1'",
  "psql -c '\\! rm a'",
  "dc -e '!rm a'",
  "env X=1 python3 -c 'import os; os.system(\"rm a\")'",
])("commands in code: a deny rule for rm applies to %s", (command) => {
  expect(decide(command)).toBe("deny");
});

test.each([
  `python3 -c 'print("hello")'`,
  `node -e 'console.log(require("./package.json").version)'`,
  "perl -pe 's/rm/x/' a",
  "python3 -m pytest -k 'not rm'",
  `git commit -m "rm old files"`,
  `echo 'os.system("rm a")'`,
  "sqlite3 b.db 'select * from rm'",
])("commands in code: a deny rule for rm does not apply to %s", (command) => {
  expect(decide(command)).toBe("allow");
});

test.each([
  String.raw`npm run env -- rm a`,
  String.raw`npm --call='rm a' exec`,
  String.raw`npm explore x -- rm a`,
  String.raw`npm run build --script-shell='rm a'`,
  String.raw`npm pkg set scripts.x='rm a'`,
  String.raw`yarn workspace x exec rm a`,
  String.raw`docker run x rm a`,
  String.raw`docker exec -it c rm a`,
  String.raw`docker run --entrypoint rm x a`,
  String.raw`docker compose exec web sh -c 'rm a'`,
  String.raw`kubectl -n x exec pod -- rm a`,
  String.raw`kubectl run x --image=y --command -- rm a`,
  String.raw`gh alias set x '!rm a'`,
  String.raw`psql --command='\! rm a'`,
  String.raw`sqlite3 x '.once |rm a'`,
  String.raw`mysql -e 'system rm a'`,
  String.raw`vim '+!rm a' f`,
  String.raw`vim -es +'!rm a' +q`,
  String.raw`vim -u evil.vim f`,
  String.raw`view -c '!rm a' f`,
  String.raw`nano --speller='rm a' f`,
  String.raw`fdfind . -X rm`,
  String.raw`less '+|$rm a' f`,
  String.raw`more '+!rm a' f`,
  String.raw`zip x y -TmTT 'rm a'`,
  String.raw`tar -c --rmt-command='rm a' -f h:x .`,
  String.raw`cpio --rsh-command='rm a' -i`,
  String.raw`rsync -M--rsync-path='rm a' x h:y`,
  String.raw`make -E 'x:;rm a'`,
  String.raw`cmake -E env rm a`,
  String.raw`cargo --config 'build.rustc-wrapper="rm"' build`,
  String.raw`cargo --config='target.x.runner="rm a"' run`,
  String.raw`git clone -c core.sshCommand='rm a' x y`,
  String.raw`git clone --config=core.sshCommand='rm a' x y`,
  String.raw`git -c diff.context.command='rm a' diff`,
  String.raw`git -c diff.algorithmx.textconv='rm a' diff`,
  String.raw`git -c merge.conflictstyle.driver='rm a' merge x`,
  String.raw`git -c branch.main.mergeOptions=-sx merge x`,
  String.raw`git remote-ext x 'rm a'`,
  String.raw`/bin/r? a`,
  String.raw`/bin/r[m] a`,
  String.raw`/lib64/ld-linux-x86-64.so.2 /bin/rm a`,
  String.raw`MANOPT='-P rm' man ls`,
  String.raw`sed 'sxaxrm axe' f`,
  String.raw`systemd-cat -t x rm a`,
  String.raw`chronic rm a`,
  String.raw`tmux new-session 'rm a'`,
  String.raw`screen -dm rm a`,
  String.raw`socat - EXEC:'rm a'`,
  String.raw`socat - EXEC:rm`,
  String.raw`socat - exec:rm,pty,stderr`,
  String.raw`socat - 'STDIO!!SYSTEM:rm'`,
  String.raw`ncat -c 'rm a' h 1`,
  String.raw`nodemon --exec 'rm a'`,
  String.raw`concurrently ls 'sudo rm a'`,
  String.raw`cross-env X=1 rm a`,
  String.raw`dotenv -e .env -- rm a`,
  String.raw`dotenv run rm a`,
  String.raw`dotenv -e .env run --override rm a`,
  String.raw`gosu user rm a`,
  String.raw`ansible all -m shell -a 'rm a'`,
  String.raw`gcloud compute ssh x --command='rm a'`,
  String.raw`nix develop -c rm a`,
  String.raw`apt-get -o DPkg::Pre-Invoke::='rm a' update`,
  String.raw`unheard-of --hook=rm`,
  String.raw`unheard-of -- sh -c 'rm a'`,
  String.raw`unheard-of -x'rm a'`,
  String.raw`unheard-of 'A=1 rm b=c'`,
  String.raw`screen rm a`,
  String.raw`yarn run rm a`,
  String.raw`yarn rm a`,
  String.raw`yarn workspace x rm a`,
  String.raw`yarnpkg --cwd x run rm a`,
  String.raw`pnpm --filter x run rm a`,
  String.raw`bun run --silent rm a`,
  String.raw`corepack yarn@1 run rm a`,
  String.raw`pnpx rm a`,
  String.raw`gcc -wrapper rm,a x.c`,
  String.raw`g++ -c x.c -wrapper env,/bin/rm,a`,
  String.raw`cmake '-DCMAKE_C_COMPILER_LAUNCHER=rm;a' .`,
  String.raw`unheard-of --pre-hook rm a`,
  String.raw`ccache rm a`,
  String.raw`ed <<< '!rm a'`,
  String.raw`make -f - <<< 'x:;rm a'`,
])("commands in arguments: a deny rule for rm applies to %s", (command) => {
  expect(decide(command)).toBe("deny");
});

test.each([
  String.raw`docker rm c`,
  String.raw`docker run --rm image`,
  String.raw`svn rm a`,
  String.raw`npm rm x`,
  String.raw`gh pr create --title 'rm old files' --body 'rm it'`,
  String.raw`git tag -a v1 -m 'rm old files'`,
  String.raw`pytest -k 'rm and x'`,
  String.raw`gcc -c rm.c -o rm.o`,
  String.raw`cmake -DX=rm .`,
  String.raw`kubectl get pods -n rm`,
  String.raw`vim +12 f`,
  String.raw`less +G f`,
  String.raw`node cli.js rm a`,
  String.raw`fdfind --exclude rm x`,
  String.raw`curl -d 'rm a' http://localhost`,
  String.raw`git -c user.name='rm a' commit -m x`,
  String.raw`git -c diff.context=5 diff`,
  String.raw`cargo run -p x`,
  String.raw`gh pr create --title='rm old files'`,
  String.raw`grep -- rm a`,
  String.raw`docker rm -- c`,
  String.raw`docker compose --dry-run rm web`,
  String.raw`npm run rm`,
  String.raw`pnpm --filter x rm y`,
  String.raw`bun rm x`,
  String.raw`yarn workspace x add rm`,
  String.raw`yarn run build rm`,
  String.raw`cargo build --features rm,x`,
  String.raw`cat <<< 'rm a'`,
])("commands in arguments: a deny rule for rm does not apply to %s", (command) => {
  expect(decide(command)).toBe("allow");
});

test("a long sed script is judged in linear time, and an unreadable one is not allowed", () => {
  expect(decide(`sed '${"s/a/b/;".repeat(8_000)}' f`)).toBe("allow");
  expect(decide(`sed '${"s/a/b/;".repeat(8_000)}e rm a' f`)).not.toBe("allow");
});

test.each([
  "bash -c -- 'rm a'",
  "bash -c -e 'rm a'",
  "bash -c +x 'rm a'",
  "bash -c -o pipefail 'rm a'",
  "dash -c -e -- 'rm a'",
  "mksh -c 'rm a'",
  "eval -- rm a",
  "env - rm a",
  "env -i - PATH=/bin rm a",
  "ssh -J h1 h2 -- rm a",
  "gsed '1e rm a' f",
  "sed '1!G;1erm a' f",
  "sed --expression '$erm a' f",
  "grm a",
  `original-awk 'BEGIN{system("rm a")}'`,
  "vim.tiny -es '+!rm a' +q",
  "bash-5.2 -c -e 'rm a'",
  "ccache rm a",
  "qemu-x86_64 ./x a",
  "GIT_ALLOW_PROTOCOL=ext git archive --remote='ext::rm a' HEAD",
  "gcc -wrapper rm,a -x c b",
  "gcc-12 -wrapper sh,-c,'rm a' b.c",
  "gpg --pinentry-program rm -d b",
  "unheard-of /bin/rm a",
  "unheard-of ../../usr/bin/rm",
  "x='b[$(rm a)]'; declare -i y; y=x",
  `x='b[\`rm a\`]'; test -v "$x"`,
  `test -v "$x"`,
])("commands in unusual places: a deny rule for rm applies to %s", (command) => {
  expect(decide(command)).toBe("deny");
});

test.each([
  "ed -s <<< '!rm a'",
  "ed -s <<< '1,2!rm a'",
  "ex f <<< '%!rm a'",
  String.raw`printf 'p\n!rm a\n' | ed -s`,
  String.raw`echo -e 'x\n!rm a' | unheard-of`,
  "ftp <<< 'open x\n!rm a'",
  "mailx -~ u <<< 'x\n~!rm a'",
  "mysql <<< 'pager rm a'",
  String.raw`mysql <<< '\P rm a'`,
  "printf '!rm a\\nq\\n' | ed -s",
  "echo 'syscmd(rm a)' | m4",
  "tclsh <<< 'exec rm a'",
  `echo 'import os; os.system("rm a")' | python3`,
  `python3 - <<< 'import os; os.system("rm a")'`,
  `echo 'require("child_process").execSync("rm a")' | cat | env node`,
  `(echo x; echo 'os.execute[[rm a]]') | lua`,
  `echo 'os.execute[==[rm a]==]' |\n lua`,
  "echo '.sh rm a' | sqlite3",
  "make -f - <<< '$(shell rm a)'",
  "unheard-of <<< 'rm a'",
  `(python3) <<< 'import os; os.system("rm a")'`,
  `exec <<< 'rm a'; unheard-of`,
])("commands in the input of a program: a deny rule for rm applies to %s", (command) => {
  expect(decide(command)).toBe("deny");
});

test.each([
  "echo 'rm a' | grep x",
  "echo 'rm a' | wc -l",
  "echo 'rm a'; python3 x.py",
  "cat <<< 'rm a'",
  `jq .x <<< '{"x": "rm a"}'`,
  "gcc -o rm rm.c",
  "mail -s x u <<< 'the rm is done'",
  `gh pr create --body 'say "rm a"'`,
  `test -n "$x"`,
  "bash -e -c ls",
  "bash -c -e ls",
  "env - ls",
  "ccache gcc -c rm.c",
])("a deny rule for rm does not apply to %s", (command) => {
  expect(decide(command)).toBe("allow");
});

test.each([
  "perl -e 'system qq!rm a!'",
  "perl -e 'system q|rm a|'",
  "ruby -e 'system %q<rm a>'",
  "lua -e 'os.execute[[rm a]]'",
])("commands in code: every kind of quotes counts, as in %s", (command) => {
  expect(decide(command)).toBe("deny");
});

test("a pipeline of thousands of commands is judged in linear time", () => {
  expect(decide(`${"echo a | ".repeat(6_000)}cat`)).toBe("deny");
  expect(decide(`${"cat | ".repeat(6_000)}cat`)).toBe("allow");
});

test.each([
  ["ag *", "ag --pager 'touch b' x"],
  ["sqlite3 *", "sqlite3 a.db '.shell touch b'"],
  ["sqlite3 *", "sqlite3 a.db \".import '|touch b' t\""],
  ["psql *", "psql -c '\\! touch b'"],
  ["mysql *", "mysql -e 'system touch b'"],
  ["gcc *", "gcc -wrapper touch,b c.c"],
  ["mksh *", "mksh -c 'touch b'"],
  ["ccache *", "ccache touch b"],
  ["gsort *", "gsort -o b a"],
  ["original-awk *", `original-awk '{print > "b"}' a`],
  ["vim.tiny *", "vim.tiny '+!touch b' a"],
])("the rule %s does not cover the command that %s runs", (rule, command) => {
  const policy = createPolicy("default", { allow: parseRules([`bash(${rule})`]), deny: [] });
  const shell = { sandboxed: false, waived: true, roots: ["/ws"] };
  const subjects = [{ kind: "command" as const, command }];
  expect(judge(policy, { tool: "bash", does: "exec", effect: "write", subjects, shell }).decision).toBe("ask");
});
