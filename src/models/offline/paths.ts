/** The paths of the files in an indented tree. */
export function pathsIn(tree: string): string[] {
  const folders: string[] = [];
  return tree.split("\n").flatMap((row) => {
    const depth = Math.floor((row.length - row.trimStart().length) / 2);
    const name = row.trim();
    folders.length = Math.min(folders.length, depth);
    if (name.endsWith("/")) folders.push(name.slice(0, -1));
    return name === "" || /[/@]$|^\[/.test(name) ? [] : [[...folders, name].join("/")];
  });
}

/** The file that an import line refers to, if that file is known. */
export function importedBy(path: string, text: string, known: ReadonlySet<string>): string | undefined {
  const target = /(?:from|import|require\()\s*["'](\.{1,2}\/[^"']+)["']/.exec(text)?.[1];
  if (target === undefined) return undefined;
  const steps = path.split("/").slice(0, -1);
  for (const step of target.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== ".") steps.push(step);
  }
  const base = steps.join("/");
  const candidates = [
    base,
    base.replace(/\.js$/, ".ts"),
    `${base}.ts`,
    `${base}.tsx`,
    `${base}.js`,
    `${base}/index.ts`,
  ];
  return candidates.find((candidate) => known.has(candidate));
}
