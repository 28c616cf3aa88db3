import { words } from "../text/words.ts";

/**
 * The name by which a program is known, without its folder. It also omits the additions of systems that install several
 * versions of a program (`gsed`, `vim.tiny`, `bash-5.2`, `original-awk`).
 */
export function programName(program: string): string {
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name.startsWith("g") && GNU.has(name.slice(1))) return name.slice(1);
  return VARIANT.exec(name)?.[1] ?? (AWK.test(name) ? "awk" : name);
}

/** Programs that other systems install with a `g` before their names. */
const GNU: ReadonlySet<string> = new Set(
  words(`
    sed tar find xargs make time env nice nohup stdbuf timeout split csplit sort uniq shuf cat tac head tail cut rm mv cp ln mkdir
    rmdir touch chmod chown chgrp dd install tee truncate unlink shred sync kill link mknod mkfifo date realpath readlink stat
    wc tr echo printf test grep egrep fgrep ls du df od patch
  `),
);

const VARIANT =
  /^(vi|vim|view|ex|rvim|rview|vimdiff|nvim|emacs|nc|netcat|bash|zsh|ksh|mksh|dash|make|tar|sed|find|sqlite3|gcc|g\+\+)[-.]?(?:\d[\d.]*|basic|tiny|nox|gtk3?|static|openbsd|traditional)$/;

const AWK = /^(?:original-|bio|go|bwk)awk$/;
