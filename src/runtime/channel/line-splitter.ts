/** Splits a text that arrives in chunks into lines. */
export type LineSplitter = Readonly<{
  push(chunk: string): void /** Passes on the last line, which has no line end. */;
  end(): void;
}>;

/**
 * Calls `take` with each line, without its line end. Takes time in proportion to the text, however it is divided into
 * chunks. A line of more than `longest` characters is dropped up to its end, and `tooLong` is called once for it.
 */
export function createLineSplitter(
  take: (line: string) => void,
  { longest, tooLong = () => {} }: Readonly<{ longest: number; tooLong?(): void }>,
): LineSplitter {
  let parts: string[] = [];
  let length = 0;
  let isDropping = false;
  const add = (part: string): void => {
    if (isDropping) return;
    length += part.length;
    if (length <= longest) return void parts.push(part);
    parts = [];
    isDropping = true;
    tooLong();
  };
  const close = (): void => {
    const line = isDropping ? undefined : parts.join("");
    parts = [];
    length = 0;
    isDropping = false;
    if (line !== undefined) take(line);
  };
  return {
    push: (chunk) => {
      let from = 0;
      for (let at = chunk.indexOf("\n"); at >= 0; at = chunk.indexOf("\n", from)) {
        add(chunk.slice(from, at));
        close();
        from = at + 1;
      }
      if (from < chunk.length) add(chunk.slice(from));
    },
    end: close,
  };
}
