import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { protectedPart } from "../../core/policy/protected-paths.ts";
import type { Rule } from "../../core/rules/rule.ts";
import { messageOf } from "../../core/schema/error.ts";
import { openLifeSocket } from "../disk/life-socket.ts";
import { livingClaim } from "../disk/process-claim.ts";
import { ProtectedScan, type ProtectedThing } from "../files/protected-scan.ts";
import type { QuarantinedFile } from "../files/quarantine.ts";
import { isText, type RawPath, rawOf, textOfRaw } from "../files/raw-path.ts";
import {
  type GuardedRoot,
  readCommandRecord,
  recordFiles,
  recordsIn,
  removeCommandRecord,
  writeCommandRecord,
} from "./command-record.ts";
import {
  type Before,
  beforeOf,
  besidePermitted,
  finishQuarantine,
  isLifted,
  isMade,
  quarantine,
  rootOfPath,
} from "./finish-quarantine.ts";
import { restOf } from "./process-tree.ts";
import { fingerprint, type Protection, protectionOf } from "./protected-mounts.ts";

/** The data about a command that is about to start. */
export type CommandScope = Readonly<{
  run: string;
  /** A value in the environment of every process that the command starts, by which its processes are found. */
  marker: string;
  roots: readonly Omit<GuardedRoot, "skipped">[];
  /** The current rules of the person, which may allow protected places. */
  allow(): readonly Rule[];
  /** Registers the git repositories in the folders, and returns `roots` with the paths they configure. */
  learn?(gitPaths: readonly string[]): CommandScope["roots"];
}>;

/**
 * A running command whose protected paths are guarded: it cannot write existing protected files, and new protected
 * files go to quarantine.
 */
export type GuardedCommand = Pick<Protection, "readOnly" | "pinned"> &
  Readonly<{
    /** The file that records the running command. */
    record?: string;
    /** To be called when the command's sandbox has started, with the pid of the sandbox's first process. */
    began(pid: number): void;
    /**
     * To be called when the command's processes are told to end, so that new files are not scanned again until they
     * have ended.
     */
    ending(): void;
    /** To be called when all processes of the command have ended. */
    end(): Promise<readonly QuarantinedFile[]>;
  }>;

/** How often files are scanned while a command runs. */
const EVERY_MS = 2_000;
/**
 * How long the first of several commands that were told to end waits for the other commands. On a busy machine, thirty
 * commands die within seconds, and a scan of a large folder takes a second.
 */
const TOGETHER_MS = 500;

/**
 * The commands of this process that may create protected files, from their start until the quarantine is done. Each is
 * recorded in the state folder, so that another process can finish the work after a crash.
 */
export class InFlight {
  readonly #records: string | undefined;
  readonly #skipped: readonly string[];
  readonly #scans = new Map<string, ProtectedScan>();
  readonly #running = new Set<Running>();
  /** For each command that is being prepared: the files that were moved to quarantine meanwhile. */
  readonly #starting = new Set<Set<RawPath>>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  /** The scan for new files that commands share when they end in the same turn of the event loop. */
  #ends: Promise<void> | undefined;
  /** The scan that commands share when they were told to end and end within {@link TOGETHER_MS}. */
  #toldEnds: Promise<void> | undefined;
  #lastToldEnd: (() => void) | undefined;

  /**
   * `state`: the folder for records of running commands; absent: none are kept. `skipped`: folders that scans leave out
   * because no command can write to them.
   */
  constructor({ state, skipped = [] }: { state?: string; skipped?: readonly string[] } = {}) {
    this.#records = state === undefined ? undefined : recordsIn(state);
    this.#skipped = skipped;
  }

  /** Records the existing protected files before a command starts. */
  async begin(scope: CommandScope): Promise<GuardedCommand> {
    const left = await this.recover();
    const guardedRoots = (given: CommandScope["roots"]): GuardedRoot[] =>
      given.map((root) => ({ ...root, skipped: this.#skipped }));
    let roots = guardedRoots(scope.roots);
    const refused = new Set<RawPath>();
    this.#starting.add(refused);
    try {
      let found = await this.#scan(roots);
      const others = [...this.#running, ...(await this.#elsewhere())];
      const isThere = ({ path }: ProtectedThing): boolean =>
        !refused.has(path) && !others.some((other) => claims(other, path));
      const known = JSON.stringify(roots);
      roots = guardedRoots(scope.learn?.(repositoriesIn(found.filter(isThere))) ?? scope.roots);
      if (JSON.stringify(roots) !== known) found = await this.#scan(roots);
      const there = found.filter(isThere);
      const empty = {
        roots,
        allow: scope.allow,
        existing: new Set<RawPath>(),
        shared: new Set<RawPath>(),
        links: [],
        watched: new Map(),
      };
      const shut = there.filter(({ path }) => !isLifted(empty, path));
      const { readOnly, pinned, links, watched } = protectionOf(
        shut,
        roots.map(({ root }) => root),
      );
      const file = this.#records && join(this.#records, `${randomBytes(8).toString("hex")}.json`);
      const running: Running = {
        ...empty,
        existing: new Set(there.map(({ path }) => path)),
        links,
        watched: new Map(watched),
        aside: [...left],
        scope,
        ...(file !== undefined && { file }),
      };
      await note(running).catch(cannotNote);
      if (file !== undefined) running.closeLife = openLifeSocket(file);
      this.#running.add(running);
      this.#watch();
      return {
        readOnly,
        pinned,
        ...(file !== undefined && { record: file }),
        began: (pid) => {
          running.pid = pid;
        },
        ending: () => {
          running.ending = true;
        },
        end: () => this.#end(running),
      };
    } finally {
      this.#starting.delete(refused);
    }
  }

  /**
   * Registers a file that a tool was allowed to write, so that it is not quarantined. If its protected folder is new,
   * commands could write beside it: everything else in that folder is quarantined.
   */
  async permit(path: string): Promise<void> {
    const raw = rawOf(path);
    for (const running of this.#running) {
      const root = rootOfPath(running, raw);
      if (root === undefined) continue;
      for (const folder of newProtectedFolders(running, root, raw)) running.shared.add(folder);
      for (let at = raw; at.length > rawOf(root.root).length; at = dirname(at)) running.existing.add(at);
      await note(running);
    }
  }

  /** Finishes the quarantine for commands of dead subcrew processes, and returns the quarantined files. */
  async recover(): Promise<QuarantinedFile[]> {
    const own = new Set([...this.#running].map(({ file }) => file));
    const aside: QuarantinedFile[] = [];
    for (const file of this.#records === undefined ? [] : recordFiles(this.#records)) {
      if (own.has(file) || (await livingClaim(file)) !== undefined) continue;
      const record = await readCommandRecord(file);
      if (record) aside.push(...(record.done ?? (await finishQuarantine(record))));
      removeCommandRecord(file);
    }
    return aside;
  }

  async #end(running: Running): Promise<readonly QuarantinedFile[]> {
    running.ended = true;
    await (running.ending ? this.#afterToldEnds() : this.#afterTurn());
    try {
      await this.#sweep(running);
    } finally {
      this.#running.delete(running);
      if (this.#running.size === 0) this.#unwatch();
    }
    // If the quarantine failed, the record stays: the next process finishes it.
    if (running.file !== undefined) removeCommandRecord(running.file);
    await (await running.closeLife)?.();
    return running.aside;
  }

  #afterTurn(): Promise<void> {
    this.#ends ??= nextTurn().then(() => {
      this.#ends = undefined;
    });
    return this.#ends;
  }

  /** Waits a short time until all commands that were told to end have ended. */
  #afterToldEnds(): Promise<void> {
    const isLast = ![...this.#running].some(({ ending, ended }) => ending && !ended);
    this.#toldEnds ??= new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, TOGETHER_MS);
      this.#lastToldEnd = () => {
        clearTimeout(timer);
        resolve();
      };
    }).then(() => {
      this.#toldEnds = undefined;
    });
    if (isLast) this.#lastToldEnd?.();
    return this.#toldEnds;
  }

  /**
   * Moves the protected files that a command has created so far to quarantine. `rest`: the state of the command's
   * processes before the scan.
   */
  async #sweep(running: Running, rest?: string): Promise<void> {
    const scanned = await this.#scan(running.roots);
    const found = [...scanned, ...besidePermitted(running)];
    await keepWhatOthersMade(running, found);
    running.rest = rest;
    const others = [...this.#running].filter((other) => other !== running);
    const spares = (path: RawPath): boolean => {
      if (isLifted(running, path)) for (const other of others) other.existing.add(path);
      return isLifted(running, path) || others.some((other) => isLifted(other, path));
    };
    for (const { path } of found)
      if (!running.existing.has(path)) for (const refused of this.#starting) refused.add(path);
    running.aside.push(...quarantine(running, found, spares));
  }

  async #scan(roots: readonly GuardedRoot[]): ReturnType<ProtectedScan["scan"]> {
    const scans = roots.map((root) => {
      const key = JSON.stringify([root.root, root.place, root.homes, root.configured]);
      const known = this.#scans.get(key) ?? new ProtectedScan(root, (path) => this.#isNew(path));
      this.#scans.set(key, known);
      return known.scan();
    });
    return (await Promise.all(scans)).flat();
  }

  /** True for a file that one of the running commands has created. */
  #isNew(path: RawPath): boolean {
    for (const running of this.#running) if (claims(running, path)) return true;
    return false;
  }

  /** The commands that other subcrew processes run now. */
  async #elsewhere(): Promise<Before[]> {
    const own = new Set([...this.#running].map(({ file }) => file));
    const files = this.#records === undefined ? [] : recordFiles(this.#records).filter((file) => !own.has(file));
    const records = await Promise.all(files.map(readCommandRecord));
    return records.flatMap((record) => (record === undefined || record.done ? [] : [beforeOf(record)]));
  }

  #watch(): void {
    this.#timer ??= setInterval(() => void this.#look(), EVERY_MS).unref();
  }

  #unwatch(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const states = new Map<Running, string | undefined>();
    for (const running of this.#running) {
      if (running.ending) continue;
      states.set(running, running.pid === undefined ? undefined : restOf(running.pid));
      await nextTurn(); // on a busy machine, looking at the processes of thirty commands takes seconds
    }
    const open = [...states].filter(([running]) => !running.ending && this.#running.has(running));
    await Promise.all(open.map(([running, rest]) => this.#sweep(running, rest))).catch(() => {});
    this.#looking = false;
  }
}

const repositoriesIn = (found: readonly ProtectedThing[]): string[] =>
  found.flatMap(({ path }) => (path.endsWith("/.git") && isText(path) ? [textOfRaw(path)] : []));

type Running = Before &
  Readonly<{
    existing: Set<RawPath>;
    shared: Set<RawPath>;
    watched: Map<RawPath, string>;
    aside: QuarantinedFile[];
    scope: CommandScope;
    file?: string;
  }> & {
    pid?: number;
    closeLife?: ReturnType<typeof openLifeSocket>;
    /** The state of the command's processes before the last scan, if all of them were asleep. */
    rest?: string | undefined;
    /** Whether the command was told to end, and whether it has ended. */
    ending?: boolean;
    ended?: boolean;
  };

/**
 * The folders above a file that are protected, or inside of a protected folder, and did not exist before the command:
 * unlike existing ones, they are not read-only for it.
 */
function newProtectedFolders(running: Running, root: GuardedRoot, file: RawPath): RawPath[] {
  const top = rawOf(root.root).length;
  const folders: RawPath[] = [];
  for (let at = dirname(file); at.length > top; at = dirname(at)) {
    const inner = textOfRaw(at.slice(top)).replace(/^\//, "");
    if (protectedPart(root.place === "" ? inner : `${root.place}/${inner}`, root) !== undefined) folders.push(at);
  }
  const outermost = folders.at(-1);
  if (outermost === undefined || (running.existing.has(outermost) && !running.shared.has(outermost))) return [];
  return folders;
}

/** True for a file that the command `other` has created. */
const claims = (other: Before, path: RawPath): boolean =>
  rootOfPath(other, path) !== undefined && isMade(other, path) && !isLifted(other, path);

/**
 * Ignores files that other programs created, such as a person's `git init`: they appeared while every process of the
 * command was asleep, from before the last scan until after this scan. If such a file changes later, it is treated as a
 * file of the command.
 */
async function keepWhatOthersMade(running: Running, found: readonly ProtectedThing[]): Promise<void> {
  const { pid, rest, existing, watched } = running;
  if (pid === undefined || rest === undefined) return;
  const made = found.filter(({ path }) => !existing.has(path)).map(({ path }) => [path, fingerprint(path)] as const);
  if (made.length === 0 || restOf(pid) !== rest) return;
  for (const [path, was] of made) {
    existing.add(path);
    watched.set(path, was);
  }
  await note(running);
}

/** Says that the command did not run and why, since a bare `ENOSPC` reads as if the command had met it. */
function cannotNote(cause: unknown): never {
  const text = `the command was not started, because its record cannot be written in the state folder (${messageOf(cause)})`;
  throw Object.assign(new Error(text, { cause }), { code: "NOT_STARTED" });
}

async function note({ file, scope, roots, existing, shared, links, watched }: Running): Promise<void> {
  if (file === undefined) return;
  await writeCommandRecord(file, {
    run: scope.run,
    marker: scope.marker,
    roots,
    allow: scope.allow(),
    existing: [...existing],
    shared: [...shared],
    links,
    watched: [...watched],
  });
}
