/** A Markdown code block that its content cannot close: the fence is longer than any run of backticks inside. */
export function fence(text: string, language = ""): string {
  const mark = ticksAround(text, 3);
  return `${mark}${language}\n${text}\n${mark}`;
}

/** A Markdown code span that its content cannot close. */
export function codeSpan(text: string): string {
  const mark = ticksAround(text, 1);
  return text.includes("`") ? `${mark} ${text} ${mark}` : `${mark}${text}${mark}`;
}

function ticksAround(text: string, least: number): string {
  let longest = least - 1;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return "`".repeat(longest + 1);
}
