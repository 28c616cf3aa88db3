import { expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
import { mentions } from "./mentions.ts";

test.each([
  ["rm", "xargs rm"],
  ["rm", "sh -c '/bin/rm a'"],
  ["rm", "run(['rm', 'a'])"],
  ["rm", `sh -c "r'm' a"`],
  ["rm", String.raw`sh -c "r\m a"`],
  ["rm", String.raw`printf 'a\nrm b\n' | sh`],
  ["rm", "unheard-of --hook=RM"],
  ["rm", "make x:;rm"],
  ["rm", "echo The end of rm."],
  ["/bin/rm", "sudo rm a"],
  ["docker*", "sudo docker-compose up"],
  ["git push", "sh -c 'git -C x push origin'"],
  ["git push", `sh -c "git 'push'"`],
  ["git push", "env 'git' \"push\" # it's done"],
  ["rm", "echo it's # rm 'a b'"],
  ["git push", "python3 -c \"run(['git', 'push'])\""],
  ["npm run build:prod", "ssh host npm run build:prod"],
  ["git branch -D", "xargs git branch -D"],
  ["* --force", "sh -c 'x --force'"],
])("the words %s are mentioned in %s", (rule, line) => expect(mentions(rule.split(" "), line)).toBe(true));

test.each([
  ["rm", "npm run form -- --rm rm.txt perform rm-old x/rm/y rmdir .rm"],
  ["git push", "git status && git commit -m 'Pushed'"],
  ["git push", "xargs echo push git"],
  ["git push", "git commit -m 'do not push yet'"],
  ["git branch -D", "xargs git branch -d x"],
  ["npm run build:prod", "npm run build:dev"],
  ["", "anything"],
])("the words %s are not mentioned in %s", (rule, line) => expect(mentions(rule.split(" "), line)).toBe(false));

test.each(["git 'pus\\h ", '\\"', `"a b" 'a b' `, `# "\\"`])(
  "a long line of %j is searched in linear time",
  (piece) => {
    const search = (words: number) => () => mentions(["git", "push"], piece.repeat(words));
    expect(growth({ small: search(1_000), large: search(5_000), pieces: 5 })).toBeLessThan(3);
  },
);
