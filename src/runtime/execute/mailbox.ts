/** Messages for tasks that are running, until their next turn takes them. */
export type Mailbox = Readonly<{
  /** Adds a message; false when no such task is running, or its queue is full. */
  put(path: string, text: string): boolean;
  /** Takes all messages for a task, oldest first. */
  take(path: string): readonly string[];
  /** Notifies the listener of a task about an urgent message. */
  ring(path: string): void;
  /** Subscribes to urgent messages; returns a function that unsubscribes. */
  listen(path: string, rung: () => void): () => void;
  /** Lets a task receive messages until `close` is called for it. */
  open(path: string): void;
  close(path: string): void;
  /** The paths of all tasks that can receive messages. */
  readers(): readonly string[];
}>;

/** Maximum number of unread messages per task. */
const MOST = 100;

/** Creates an empty mailbox. */
export function createMailbox(): Mailbox {
  const boxes = new Map<string, string[]>();
  const bells = new Map<string, () => void>();
  return {
    put: (path, text) => {
      const box = boxes.get(path);
      if (!box || box.length >= MOST) return false;
      box.push(text);
      return true;
    },
    take: (path) => boxes.get(path)?.splice(0) ?? [],
    ring: (path) => bells.get(path)?.(),
    listen: (path, rung) => {
      bells.set(path, rung);
      return () => void bells.delete(path);
    },
    open: (path) => void boxes.set(path, boxes.get(path) ?? []),
    close: (path) => void boxes.delete(path),
    readers: () => [...boxes.keys()],
  };
}
