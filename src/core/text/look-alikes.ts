/** Letters of other scripts, each followed by the Latin letter that it looks like. */
const PAIRS = [
  // Cyrillic
  "аaвbсcԁdеeҽeғfԍgһhнhіiїiјjкkӏlмmпnоoрpԛqгrѕsтtцuѵvԝwхxуyүy",
  "АAВBСCЕEԌGНHІIЈJКKМMОOРPԚQЅSТTѴVԜWХXУYҮY",
  // Greek
  "αaβbϲcεeηnιiϳjκkνvοoρpτtυuωwχxγyζz",
  "ΑAΒBΕEΖZΗHΙIͿJΚKΜMΝNΟOΡPΤTΥYΧXϹC",
  // Armenian
  "օoսuհhոnցgզqաwյj",
  // Latin letters of other forms
  "ıiɑaɡgɩiʋvƖl",
].join("");

const looks = new Map(Array.from(PAIRS.matchAll(/(.)(.)/gu), ([, letter, like]) => [letter, like]));

/** The Latin letters that a name looks like, in lower case; names that look alike have the same. */
export function latinLook(name: string): string {
  if (!/[^ -~]/.test(name)) return name.toLowerCase();
  return Array.from(name.normalize("NFKC"), (letter) => looks.get(letter) ?? letter)
    .join("")
    .toLowerCase();
}

/** The names with letters of another script that look like another of these names, each with that name. */
export function lookAlikesIn(names: ReadonlySet<string>): ReadonlyMap<string, string> {
  const foreign = [...names].filter((name) => latinLook(name) !== name.toLowerCase());
  if (foreign.length === 0) return new Map();
  const byLook = new Map<string, string[]>();
  for (const name of names) byLook.set(latinLook(name), [...(byLook.get(latinLook(name)) ?? []), name].slice(0, 2));
  return new Map(
    foreign.flatMap((name) => {
      const like = byLook.get(latinLook(name))?.find((other) => other !== name);
      return like === undefined ? [] : [[name, like]];
    }),
  );
}

/** The known name that this name looks like, although it is written with letters of another script. */
export function lookAlikeOf(name: string, known: Iterable<string>): string | undefined {
  const look = latinLook(name);
  if (look === name.toLowerCase()) return undefined;
  for (const other of known) if (other !== name && latinLook(other) === look) return other;
  return undefined;
}
