/** Characters that some file systems leave out of a name. */
const IGNORED = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/**
 * One spelling for all that can reach the same file: on some systems case does not matter, on some neither does how an
 * accent is composed. Used wherever something is forbidden, so that it is forbidden under every spelling.
 */
export function foldPath(path: string): string {
  // By way of capitals: a long s (\u017f) has no small form of its own, and such systems take it for an s.
  return path.replace(IGNORED, "").normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}
