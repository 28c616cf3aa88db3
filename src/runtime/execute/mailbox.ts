/** Messages for tasks that are running, until their next turn takes them. */
export type Mailbox = Readonly<{
  /** False when nobody of that path is there to read it, or too much waits already. */
  put(path: string, text: string): boolean;
  /** What waits for a task, oldest first; it is gone from the box. */
  take(path: string): readonly string[];
  /** Calls whoever listens for a task: something in its box cannot wait. */
  ring(path: string): void;
  /** Listens for that; gives back how to stop listening. */
  listen(path: string, rung: () => void): () => void;
  /** From here on until `close` the task can be written to. */
  open(path: string): void;
  close(path: string): void;
  /** Everybody who can be written to. */
  readers(): readonly string[];
}>;

/** How many messages may wait for one task. */
const MOST = 100;

/** An empty mailbox. */
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
