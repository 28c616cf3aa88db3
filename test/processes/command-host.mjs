// Runs the built command many times in one process: starting Node and loading the command takes longer than most commands do.
// Each message is one command line with its folder, variables and standard input; the answer has the output and exit
// code of a process.
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";

const program = process.argv[2];
const main = pathToFileURL(program).href;
const own = { exit: process.exit, env: process.env, stdin: Object.getOwnPropertyDescriptor(process, "stdin") };
const emitters = [process, process.stdout, process.stderr];
let count = 0;
let queue = Promise.resolve();

process.on("message", (request) => {
  queue = queue.then(async () => process.send({ id: request.id, ...(await ended(request)) }));
});
process.on("disconnect", () => own.exit.call(process, 0));

async function ended({ args, cwd, env, input }) {
  const written = { stdout: "", stderr: "" };
  const listeners = emitters.map(
    (emitter) => new Map(emitter.eventNames().map((name) => [name, emitter.listeners(name)])),
  );
  for (const name of ["stdout", "stderr"]) {
    process[name].write = (chunk, ...rest) => {
      written[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      rest.find((each) => typeof each === "function")?.();
      return true;
    };
  }
  Object.defineProperty(process, "stdin", {
    configurable: true,
    value: Readable.from(input === "" ? [] : [Buffer.from(input)]),
  });
  process.env = { ...env };
  process.chdir(cwd);
  process.argv = [process.execPath, program, ...args];
  try {
    const code = await new Promise((resolve, reject) => {
      process.exit = (status = 0) => {
        resolve(status);
        return new Promise(() => {}); // the code after an exit never runs
      };
      count += 1;
      import(`${main}?${count}`).catch(reject);
    });
    for (const leave of added(process, "exit", listeners[0])) leave(code);
    return { code, ...written };
  } catch (error) {
    return { code: null, ...written, broken: String(error?.stack ?? error) };
  } finally {
    for (const name of ["stdout", "stderr"]) delete process[name].write;
    Object.defineProperty(process, "stdin", own.stdin);
    process.exit = own.exit;
    process.env = own.env;
    for (const [at, emitter] of emitters.entries()) {
      for (const name of emitter.eventNames())
        for (const each of added(emitter, name, listeners[at])) emitter.off(name, each);
    }
  }
}

/** The listeners that were added since the command began. */
function added(emitter, name, before) {
  return emitter
    .rawListeners(name)
    .filter((each) => !before.get(name)?.includes(each) && !before.get(name)?.includes(each.listener));
}
