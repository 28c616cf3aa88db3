export const SEARCHED = "Searched for:";

export const VERDICT =
  "The offline model cannot review work. It approves this so that the plan continues; let a model or a person review the work.\n\nAPPROVED";

/** Removes the line with which the offline model says what it searched for. */
export const withoutVoice = (text: string): string => text.replace(SEARCHED_LINE, "\n\n");

const SEARCHED_LINE = new RegExp(`${SEARCHED} .*`, "g");
