import type { Redactor } from "../../core/secrets/redact.ts";
import type { PeerTools } from "../../core/task/mcp-tools.ts";
import type { Acceptance, ModelSource, Runner } from "../../core/task/runner.ts";
import type { Tape } from "./tape.ts";

/** A layer between tasks and their models and tools that records the traffic or replays it. */
export type Deck = Readonly<{
  models(source: ModelSource): ModelSource;
  runner(inner: Runner): Runner;
  peers(real: PeerTools): PeerTools;
  acceptance(real: Acceptance): Acceptance;
  /** The tape for tasks on other machines. */
  tape: Tape;
  /** Called when the run is over. */
  end(): Promise<void>;
  /** Requests that are not in the recording. */
  drift(): readonly string[];
}>;

/** Makes a deck for one run of a crew. */
export type DeckMaker = (crew: Readonly<{ cwd: string; redactor: Redactor }>) => Deck;
