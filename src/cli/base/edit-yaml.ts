import { isMap, isScalar, type Pair, parseDocument, type Scalar, stringify, type YAMLMap } from "yaml";

/**
 * Sets one value in a YAML text, or removes it (`undefined`). Only the affected lines change: comments, order and
 * layout of the rest are kept.
 */
export function withSetting(text: string, path: readonly string[], value: unknown): string {
  return value === undefined ? without(text, path) : withValue(text, path, value);
}

function withValue(text: string, path: readonly string[], value: unknown): string {
  const { map, pair, rest } = reach(text, path);
  if (pair !== undefined && rest.length === 0 && isScalar(pair.value) && pair.value.range) {
    const [start, end] = pair.value.range;
    const withText = (written: string): string => `${text.slice(0, start)}${written}${text.slice(end)}`;
    const plain = withText(String(value));
    // A text that means something else in YAML is quoted; JSON is YAML.
    return parseDocument(plain).getIn(path) === value ? plain : withText(JSON.stringify(value));
  }
  const last = map?.items.at(-1);
  if (map === undefined || map.flow || last === undefined || !map.range) return throughDocument(text, path, value);
  const indent = columnOf(text, last);
  const lines = stringify(nested(rest, value)).trimEnd().split("\n");
  const at = endOf(text, map);
  const before = text.slice(0, at);
  const added = lines.map((line) => `${" ".repeat(indent)}${line}\n`).join("");
  return `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${added}${text.slice(at)}`;
}

function without(text: string, path: readonly string[]): string {
  const { map, pair, rest } = reach(text, path);
  if (map === undefined || pair === undefined || rest.length > 0) return text;
  if (map.items.length === 1 && path.length > 1) return without(text, path.slice(0, -1)); // remove an object that would become empty
  const [start, end] = [
    (pair.key as Scalar).range?.[0],
    isScalar(pair.value) || isMap(pair.value) ? pair.value.range?.[1] : undefined,
  ];
  if (map.flow || start === undefined || end === undefined) return throughDocument(text, path, undefined);
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const until = text.indexOf("\n", end === start ? end : end - 1);
  return `${text.slice(0, from)}${until === -1 ? "" : text.slice(until + 1)}`;
}

type Reached = {
  /** The deepest object on the path that exists in the document. */
  readonly map: YAMLMap | undefined;
  /** The existing key and value at the end of the path, if the whole path exists. */
  readonly pair: Pair | undefined;
  /** The keys at the end of the path that do not exist. */
  readonly rest: readonly string[];
};

function reach(text: string, path: readonly string[]): Reached {
  const { contents } = parseDocument(text);
  let map: YAMLMap | undefined = isMap(contents) ? contents : undefined;
  for (const [at, step] of path.entries()) {
    const pair: Pair | undefined = map?.items.find(({ key }) => isScalar(key) && key.value === step);
    if (at === path.length - 1 && pair !== undefined) return { map, pair, rest: [] };
    if (pair === undefined || !isMap(pair.value)) return { map, pair: undefined, rest: path.slice(at) };
    map = pair.value;
  }
  return { map, pair: undefined, rest: [] };
}

const nested = ([step, ...rest]: readonly string[], value: unknown): unknown =>
  step === undefined ? value : { [step]: nested(rest, value) };

const columnOf = (text: string, { key }: Pair): number => {
  const start = (key as Scalar).range?.[0] ?? 0;
  return start - (text.lastIndexOf("\n", start - 1) + 1);
};

/** The offset after the last line of an object. Comments and empty lines below it belong to the next key. */
function endOf(text: string, map: YAMLMap): number {
  const last = map.items.at(-1)!;
  const value = last.value;
  const end =
    isMap(value) && !value.flow ? undefined : ((value as Scalar | null)?.range?.[1] ?? (last.key as Scalar).range?.[1]);
  if (end === undefined) return endOf(text, value as YAMLMap);
  const line = text.indexOf("\n", end - 1);
  return line === -1 ? text.length : line + 1;
}

/** Rewrites the whole document, for layouts in which a single line cannot be changed. */
function throughDocument(text: string, path: readonly string[], value: unknown): string {
  const document = parseDocument(text);
  if (value === undefined) document.deleteIn(path);
  else document.setIn(path, value);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}
