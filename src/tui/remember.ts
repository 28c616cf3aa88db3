/** Caches the last result of a function without side effects while its arguments stay the same objects. */
export function remembering<A extends readonly unknown[], R>(make: (...args: A) => R): (...args: A) => R {
  let last: Readonly<{ args: A; result: R }> | undefined;
  return (...args) => {
    if (last && args.length === last.args.length && args.every((each, at) => Object.is(each, last!.args[at])))
      return last.result;
    last = { args, result: make(...args) };
    return last.result;
  };
}
