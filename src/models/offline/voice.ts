export const SEARCHED = "Searched for:";

export const VERDICT =
  "The offline model cannot review work, so it does not approve this; let a model or a person review the work.\n\nREVISION_NEEDED";

/** Removes the line with which the offline model says what it searched for. */
export const withoutVoice = (text: string): string => text.replace(SEARCHED_LINE, "\n\n");

const SEARCHED_LINE = new RegExp(`${SEARCHED} .*`, "g");
