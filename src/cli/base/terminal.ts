import { createLook, type Look } from "../../core/view/look.ts";

/** What is known about where the command runs. */
export type Terminal = Readonly<{
  look: Look;
  /** Lines may change in place. */
  live: boolean;
  /** A person can be asked. */
  attended: boolean;
}>;

/** Looks at the streams and the environment once; everybody else is told. */
export function terminal({ color }: { color: boolean }): Terminal {
  const { stdin, stderr } = process;
  const dumb = process.env["TERM"] === "dumb";
  const live = stderr.isTTY && !dumb;
  return {
    look: createLook({ color: color && wantsColor(live), unicode: hasUnicode(dumb) }),
    live,
    attended: stdin.isTTY && stderr.isTTY,
  };
}

/** https://no-color.org: any value that is not empty means no. */
function wantsColor(live: boolean): boolean {
  if (process.env["NO_COLOR"]) return false;
  const forced = process.env["FORCE_COLOR"];
  return forced !== undefined && forced !== "" ? forced !== "0" && forced !== "false" : live;
}

/** A locale that names another charset is believed; one that names none says nothing. */
function hasUnicode(dumb: boolean): boolean {
  const locale = process.env["LC_ALL"] || process.env["LC_CTYPE"] || process.env["LANG"] || "";
  if (process.platform === "win32")
    return process.env["WT_SESSION"] !== undefined || process.env["TERM_PROGRAM"] !== undefined;
  return !dumb && process.env["TERM"] !== "linux" && (locale === "" || /utf-?8/i.test(locale));
}
