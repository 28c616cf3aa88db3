export type Headers = Readonly<Record<string, string>>;

/**
 * Creates a function that writes headers as the lines of a request. The text for the same two header objects is created
 * once. `joined` combines the two objects.
 */
export function createHeaderTexts(
  joined: (usual: Headers, own: Headers) => Headers,
): (usual: Headers, own: Headers) => string {
  const texts = new WeakMap<Headers, WeakMap<Headers, string>>();
  return (usual, own) => {
    const known = texts.get(usual) ?? new WeakMap<Headers, string>();
    const text = known.get(own) ?? headerText(joined(usual, own));
    texts.set(usual, known.set(own, text));
    return text;
  };
}

/** Headers that say where a request ends or what happens to its connection. Only the client itself may set them. */
const OURS = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** If the names of two headers differ only in case, the later header counts. */
function headerText(headers: Headers): string {
  const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [name, value] as const]));
  let text = "";
  for (const [lower, [name, value]] of named) {
    if (OURS.has(lower)) continue;
    if (!NAME.test(name)) throw new HeaderError(`"${name}" cannot be the name of a header`);
    if (UNSENDABLE.test(value)) throw new HeaderError(`the header "${name}" has a character that cannot be sent`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}connection: keep-alive\r\n`;
}

/** Thrown for a header that cannot be sent. Its value may be a key, so it is not in the message. */
class HeaderError extends Error {
  readonly code = "ERR_INVALID_CHAR";
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
