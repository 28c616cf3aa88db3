import type { Artifact } from "../outcome/artifact.ts";
import type { Lease } from "../rules/lease.ts";
import type { KeptEvent } from "./event.ts";
import type { Receipt, RunCommand } from "./run-command.ts";

/**
 * The store of runs, and the only way to look at them: `ps`, `logs`, `resume`, the MCP server and all other readers use
 * nothing else. A store can be a folder of this machine, the memory of a process or a database.
 */
export type RunStore = RunRecords &
  RunOwnership &
  RunCommands &
  RunOutputs &
  RunDocuments &
  RunAgents &
  ReusableResults &
  WorkspaceLeases &
  Readonly<{
    /** Deletes everything that is kept of a run. The caller has checked that no process owns it. */
    remove(run: string): Promise<void>;
    /** Deletes data that refers to deleted runs. */
    sweep(): Promise<void>;
  }>;

/** Reads the records of runs. */
export type RunRecords = Readonly<{
  /** The ids of all runs, newest first. */
  list(): Promise<readonly string[]>;
  /** The first record; `undefined`: no record can be read. */
  first(run: string): Promise<KeptEvent | undefined>;
  /** The last complete record. */
  last(run: string): Promise<KeptEvent | undefined>;
  /**
   * All records, piece by piece, around damaged parts: for display, never to append to. Throws `UNKNOWN_RUN` for a run
   * without records.
   */
  read(run: string): AsyncIterable<RecordPiece>;
  /**
   * All records, to resume the run. Throws `RUN_DAMAGED` when a record is missing, `UNKNOWN_RUN` for a run without
   * records. `open` accepts the result, so that the journal is not read twice.
   */
  readWhole(run: string): Promise<KeptRecords>;
  /**
   * The records after the number `after`, then each further record when it is written, until `until` returns true or
   * the signal aborts.
   */
  follow(run: string, options: FollowOptions): AsyncIterable<KeptEvent>;
  /** The size of everything that is kept of a run, and when it last changed. */
  measure(run: string): Promise<Readonly<{ bytes: number; changedAt: number }>>;
  /** Where a run is kept, in words for a person: a folder, or an address without its password. */
  place(run: string): string;
}>;

/** Consecutive records of a run, and the damage found between them. */
export type RecordPiece = Readonly<{
  events: readonly KeptEvent[];
  /** Unreadable parts and missing records, as sentences. */
  damage: readonly string[];
  /**
   * The number of bytes of an incomplete last record. The record is being written right now, or was torn by a crash.
   */
  tornBytes: number;
}>;

/** All records of a run, and the problems that were repaired while reading, as sentences. */
export type KeptRecords = Readonly<{ events: readonly KeptEvent[]; problems: readonly string[] }>;

export type FollowOptions = Readonly<{
  after?: number;
  /**
   * Called with the last record whenever all existing records have been read; if it returns true, the iteration ends.
   */
  until(last: KeptEvent | undefined): Promise<boolean>;
  signal: AbortSignal;
}>;

/** The ownership of runs: which process works on a run, and how a process gets the right to write its records. */
export type RunOwnership = Readonly<{
  /** Takes ownership of a run and opens its journal. Throws `RUN_BUSY` while another process owns it. */
  open(run: string, listener: JournalListener, options?: JournalOpening): Promise<Journal>;
  /** The process that works on a run; `undefined`: no process does, or it is dead. */
  owner(run: string): Promise<RunOwner | undefined>;
  /**
   * Takes a run away from its process, on any machine, or from the process that would continue it next: nothing more is
   * recorded, its tasks stop, and no process continues it by itself. Resolves with false if no process had the run.
   * Absent where ownership ends with the process.
   */
  disown?(run: string): Promise<boolean>;
  /** Announces that a process is about to start the run; the returned function withdraws the announcement. */
  announce(run: string): Promise<() => Promise<void>>;
  /** True while a living process announces the run. */
  isAnnounced(run: string): Promise<boolean>;
}>;

export type JournalOpening = Readonly<{
  /** The result of `readWhole`; the records are read again only if the run has changed since. */
  known?: KeptRecords | undefined;
  /**
   * True: takes the run over from another machine, after a person confirmed that no process of that machine works on
   * it.
   */
  force?: boolean;
  /** True: the process serves only this run, so `kill` may end the process. */
  sole?: boolean;
}>;

/** A process that works on a run; it has no `pid` while the process is still recording that it owns the run. */
export type RunOwner = Readonly<{
  pid: number | undefined;
  /** The machine that claims the run; whether its process lives cannot be seen from here. */
  host?: string;
  /** The pid namespace (container) of this machine in which the process lives; the pid is a number there. */
  pidNamespace?: string;
  /** True: the process exists for this run alone. */
  sole?: true;
}>;

/** The functions that a journal calls about stored events. */
export type JournalListener = Readonly<{
  /** Called with events that are now safely stored, in order. */
  kept(events: readonly KeptEvent[]): void;
  /** Called when writing failed permanently: the run has to stop. */
  lost(error: Error): void;
}>;

/** The journal of one run: its events in order, which only the process that owns the run writes. */
export type Journal = Readonly<{
  append(event: KeptEvent): void;
  /**
   * Starts writing the appended events now instead of at the end of the event loop's turn; absent where that is not
   * possible.
   */
  hasten?(): void;
  /** Resolves once everything appended so far is safely stored on disk; rejects when writing fails. */
  durable(): Promise<void>;
  read(): Promise<readonly KeptEvent[]>;
  /** Problems that were found when the journal was opened. */
  problems: readonly string[];
  close(): Promise<void>;
}>;

/** Sends commands to the process that owns a run, from any process. */
export type RunCommands = Readonly<{
  /**
   * Sends a command. If no process serves the run, the command is kept for the next owner. Resolves with the receipt,
   * or `undefined` after the timeout. `ended` returns the receipt for a run that has ended: the command is then
   * withdrawn.
   */
  post(run: string, command: RunCommand, options: PostOptions): Promise<Receipt | undefined>;
  /** The commands that wait for an owner, oldest first. */
  waiting(run: string): Promise<readonly RunCommand[]>;
  /**
   * Handles waiting and new commands, oldest first, until the signal aborts. If the signal is already aborted, only the
   * waiting commands are handled.
   */
  serve(run: string, handle: HandleCommand, signal: AbortSignal): Promise<void>;
}>;

export type PostOptions = Readonly<{ waitMs: number; signal: AbortSignal; ended(): Promise<Receipt | undefined> }>;

/** Handles a command and returns its receipt; `undefined` keeps the command for later. */
export type HandleCommand = (command: RunCommand, signal: AbortSignal) => Promise<Receipt | undefined>;

/**
 * The texts that are stored for a task: its output or the patch of its worktree. For a task on another machine, they
 * are also the uncommitted changes and commits that it starts from, its changes so far, its files for its subagents,
 * and the subagents that returned changes. The path "" is the run itself.
 */
export type OutputKind = "output" | "patch" | "dirty" | "bundle" | "progress" | "files";

export type OutputFileOptions = Readonly<{ kind?: OutputKind; text?: string; hash?: string }>;

/** A stored text that is in no record: its kind, and the hash that an event or a message of the run has. */
export type StoredText = Readonly<{ kind: OutputKind; hash: string }>;

/** Stores the full outputs of tasks. */
export type RunOutputs = Readonly<{
  /** Stores a text that is in no record; when this resolves, the text is safely on disk. */
  keep(run: string, path: string, text: string, kind?: OutputKind): Promise<Artifact>;
  /**
   * Called with the output of a task before it is recorded. Writes an output file only if `file` has already returned
   * the path of that file.
   */
  recorded(run: string, path: string, text: string): Promise<Artifact>;
  /**
   * The output in the records; with `text`, the stored text with this hash. `undefined`: there is none. Throws
   * `RUN_DAMAGED` if the stored text has another hash.
   */
  output(run: string, path: string, text?: StoredText): Promise<string | undefined>;
  /**
   * The path of a file of this machine for a task's output; the file is created if necessary. Until there is an output,
   * the file says that it is missing, and gets the output as soon as there is one. `text`: the output, if the caller
   * has it. `hash`: the hash of a patch, which is checked. `undefined`: this store makes no files.
   */
  file(run: string, path: string, more?: OutputFileOptions): Promise<string | undefined>;
  /**
   * True when `file` has created the file of an output, in this or another process of this machine. Absent where the
   * store makes no files.
   */
  hasFile?(run: string, path: string): boolean;
  /**
   * Stores a byte-for-byte copy of a task's local output file for other machines that use this store; does nothing
   * without such a file.
   */
  share(run: string, path: string, kind: OutputKind): Promise<void>;
  /** A folder of this machine for data of a run that is needed only on this machine; `undefined`: there is none. */
  local(run: string, what: LocalPlace): string | undefined;
}>;

/**
 * `outputs`: output files and long tool results; `worktrees`; `versions`: contents of changed files; `log`: the output
 * of a background run's process.
 */
export type LocalPlace = "outputs" | "worktrees" | "versions" | "log";

/** The definitions of agents that runs carry, by the hash of their text. Each text is stored once for all runs. */
export type RunAgents = Readonly<{
  /** Stores the texts that a run refers to, before the run records their hashes. */
  keepAgents(run: string, texts: ReadonlyMap<string, string>): Promise<void>;
  /** The texts of these hashes; a text that is missing or does not match its hash is left out. */
  agentTexts(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
}>;

/** Small named texts beside the records of a run, such as the request of a background run. */
export type RunDocuments = Readonly<{
  document(run: string, name: RunDocument): Promise<string | undefined>;
  setDocument(run: string, name: RunDocument, text: string): Promise<void>;
}>;

export type RunDocument = "request" | "a2a-push";

/**
 * Leases on the files of workspaces: the files that tasks are writing. Every run that uses this store sees the leases
 * of all other runs.
 */
export type WorkspaceLeases = Readonly<{
  /**
   * Queues for a lease, and resolves with a function that releases it. The lease is granted as soon as no overlapping
   * lease is held or was requested earlier. `undefined`: the signal aborted first. Leases of a dead process do not
   * count.
   */
  lease(wish: WorkspaceLease, options: LeaseOptions): Promise<(() => Promise<void>) | undefined>;
}>;

/**
 * A lease of a task of one run. `above`: the tasks (as `run/path`) that started this run; it works within their leases.
 */
export type WorkspaceLease = Lease & Readonly<{ workspace: string; run: string; above?: readonly string[] }>;

export type LeaseOptions = Readonly<{
  /** Called with the blocking tasks whenever they change. */
  waits(blockers: readonly LeaseBlocker[]): void;
  signal: AbortSignal;
}>;

/** A task that blocks a lease, because its own lease overlaps; `run` is set when the task belongs to another run. */
export type LeaseBlocker = Readonly<{ task: string; files: readonly string[]; run?: string }>;

/** Results that later runs can reuse, found by a key that the records of the runs contain. */
export type ReusableResults = Readonly<{
  /** The recorded tasks that started with this key, oldest first. */
  reusable(key: string): Promise<readonly IndexedResult[]>;
  /**
   * Adds a result to an index, where the store has one; a failure to write is ignored, because the work can be done
   * again.
   */
  addReusable?(entry: IndexedResult): Promise<void>;
}>;

/** The run and the task that have a reusable result. */
export type IndexedResult = Readonly<{ key: string; run: string; path: string; at: number }>;
