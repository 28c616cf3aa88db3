import type { Fact } from "../run/event.ts";
import { defined } from "../text/defined.ts";
import type { Parent, PerformContext } from "./engine.ts";
import type { ForkPoint } from "./fork-point.ts";

/** Runs a wait, and stops a clock or gives away a slot meanwhile. */
export type AroundWait = <T>(wait: () => Promise<T>) => Promise<T>;

/** What a part changes in the context that it is given. */
export type ContextLayer = (inner: PerformContext) => Partial<PerformContext>;

/** The parts that a process adds to the context of a task, in the order in which a request of the task passes them. */
export type ContextParts = Readonly<{
  /** The current conversation, for agents that start from it: added by the loop. */
  conversation?(): ForkPoint;
  /** Stops the clock of the task during waits: added by the loop, and by the parent of its process. */
  standing?: AroundWait;
  /** Gives the slot of the task to other tasks while its subagents work, until `over`: added by a worker. */
  yielding?: Readonly<{ slot: Readonly<{ whileFree: AroundWait }>; over: AbortSignal }> | undefined;
  /** Resolves when the next model turn may begin: added by a worker, which may be draining. */
  beforeTurn?(): Promise<void>;
  /** True once the task has ended, after which its events are dropped and nobody is asked: added where the task is performed. */
  isOver?(): boolean;
  /** Removes secrets from each event: added by the runner of remote agents. */
  clean?(fact: Fact): Fact;
  /** Sees each event before the run: added by the parent of the task's process. */
  seen?(fact: Fact): void;
  /** The events that this process has read already: added where the task is performed. */
  past?: PerformContext["past"];
  /** Stores the conversation for a later task: added where the task is performed. */
  remember?: PerformContext["remember"] | undefined;
  /** Saves the changes to a copy of the workspace before the run goes on: added by a worker. */
  copy?: ContextLayer;
  /** Hands the files of the task to its subagents, and takes their changes in: added by a worker. */
  sharing?: ContextLayer | undefined;
  /** Counts what a dead worker had used: added where a run places its tasks. */
  takeovers?: ContextLayer;
  /** What only a task on another machine needs: added where a run places its tasks. */
  remote?: Partial<Pick<PerformContext, "tape" | "workspace" | "returned">>;
}>;

/**
 * The context of a task in one process: the services of the run (`task-node.ts`, or `child-side.ts` in another
 * process), and what this process adds to them.
 */
export function taskContext(given: PerformContext, parts: ContextParts): PerformContext {
  const layers = [() => parts.remote ?? {}, parts.takeovers, parts.sharing, parts.copy];
  const run = layers.reduce<PerformContext>((inner, layer) => (layer ? { ...inner, ...layer(inner) } : inner), given);
  const {
    conversation,
    standing = directly,
    yielding,
    beforeTurn,
    isOver = () => false,
    clean,
    seen,
    past,
    remember,
  } = parts;
  const { background, budget, parks } = run;
  const whileHelped: AroundWait = (wait) => yielding?.slot.whileFree(wait) ?? wait();
  const inherited = (parent: Parent): Parent => (conversation ? { ...parent, conversation: conversation() } : parent);
  return {
    ...run,
    ...defined({ past, remember }),
    emit: (fact) => {
      if (isOver()) return;
      seen?.(fact);
      run.emit(clean ? clean(fact) : fact);
    },
    live: (delta) => {
      if (!isOver()) run.live(delta);
    },
    delegate: (what, parent, stop) => standing(() => whileHelped(() => run.delegate(what, inherited(parent), stop))),
    ask: (...asked) => (isOver() ? Promise.resolve(undefined) : standing(() => run.ask(...asked))),
    mail: (wait) => (wait ? standing(() => run.mail(wait)) : run.mail()),
    ...(parks && { parks: { ...parks, park: (...asked) => standing(() => parks.park(...asked)) } }),
    ...(background && {
      background: {
        ...background,
        start: async (what, parent, tells) => {
          const started = await background.start(what, inherited(parent), tells);
          if (yielding && "key" in started && started.run === undefined)
            whileHelped(() => background.ended(started.key, yielding.over)).catch(() => {}); // the task itself gets the error
          return started;
        },
      },
    }),
    ...(beforeTurn && {
      budget: {
        ...budget,
        reserve: async (...asked) => {
          await beforeTurn();
          return budget.reserve(...asked);
        },
      },
    }),
  };
}

const directly: AroundWait = (wait) => wait();
