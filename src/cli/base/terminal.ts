import { createLook, type Look } from "../../core/view/look.ts";

/** The properties of the terminal, or of the pipe, that a command runs in. */
export type Terminal = Readonly<{
  look: Look;
  /** True when lines can be redrawn in place. */
  live: boolean;
  /** True when a person can be asked. */
  attended: boolean;
}>;

/** Examines the streams and the environment. All other code gets the result as an argument. */
export function terminal(flags: ColorFlag, settings: LookSettings = {}): Terminal {
  const { stdin, stderr } = process;
  return {
    look: lookOn(stderr, flags, settings),
    live: stderr.isTTY && !isDumb(),
    attended: stdin.isTTY && stderr.isTTY,
  };
}

/** The style of lists and reports on standard output. */
export const stdoutLook = (flags: ColorFlag, settings: LookSettings = {}): Look =>
  lookOn(process.stdout, flags, settings);

/** The settings that change the style of the output. */
type LookSettings = Readonly<{ durations?: Look["durations"] | undefined }>;

type ColorFlag = Readonly<{ color?: boolean }>;

const isDumb = (): boolean => process.env["TERM"] === "dumb";

function lookOn(
  { isTTY }: Readonly<{ isTTY: boolean }>,
  { color = true }: ColorFlag,
  { durations }: LookSettings,
): Look {
  const look = createLook({ color: color && wantsColor(isTTY && !isDumb()), unicode: hasUnicode(isDumb()) });
  return durations === undefined ? look : { ...look, durations };
}

/** Colours are off when NO_COLOR has any value but the empty one: https://no-color.org. */
function wantsColor(live: boolean): boolean {
  if (process.env["NO_COLOR"]) return false;
  const forced = process.env["FORCE_COLOR"];
  return forced !== undefined && forced !== "" ? forced !== "0" && forced !== "false" : live;
}

/** True when Unicode can be printed: if a locale is set, it has to name UTF-8. */
function hasUnicode(dumb: boolean): boolean {
  const locale = process.env["LC_ALL"] || process.env["LC_CTYPE"] || process.env["LANG"] || "";
  if (process.platform === "win32")
    return process.env["WT_SESSION"] !== undefined || process.env["TERM_PROGRAM"] !== undefined;
  return !dumb && process.env["TERM"] !== "linux" && (locale === "" || /utf-?8/i.test(locale));
}
