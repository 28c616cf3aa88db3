/** Characters that some file systems ignore in a name: Unicode ignorable characters and direction marks. */
const IGNORED = /[\p{Default_Ignorable_Code_Point}\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;

/**
 * A normal form for all spellings of a file name: some systems ignore case, some also ignore how an accent is composed.
 * Deny rules are compared in this form, so that they apply to every spelling.
 */
export function foldPath(path: string): string {
  if (ASCII.test(path)) return path.toLowerCase();
  // Upper case first: a long s (\u017f) has no lower-case form, and case-insensitive file systems treat it as an s.
  return path.replace(IGNORED, "").normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/**
 * Like `foldPath`, for one name without its folders. It also treats as equal full-width and other compatible letters,
 * and names that NTFS and SMB treat as equal: with blanks and dots at the end, or with a stream behind a colon.
 */
export function foldFileName(name: string): string {
  if (name === "..") return name;
  return foldPath(foldPath(name).normalize("NFKC"))
    .replace(/:.*$/s, "")
    .replace(/[. ]+$/, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ASCII = /^[\u0000-\u007f]*$/;
