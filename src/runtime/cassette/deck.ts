import type { Redactor } from "../../core/secrets/redact.ts";
import type { PeerTools } from "../../core/task/mcp-tools.ts";
import type { Acceptance, ModelSource, Runner } from "../../core/task/runner.ts";
import type { Tape } from "./tape.ts";

/**
 * A layer between tasks and their models and tools. It records all model and tool calls, or answers them from a
 * recording.
 */
export type Deck = Readonly<{
  models(source: ModelSource): ModelSource;
  runner(inner: Runner): Runner;
  peers(real: PeerTools): PeerTools;
  acceptance(real: Acceptance): Acceptance;
  /** The recording, as tasks on other machines access it. */
  tape: Tape;
  /** Called when the run is over. */
  end(): Promise<void>;
  /** The requests that were not found in the recording. */
  drift(): readonly string[];
}>;

/** Creates the recording or replaying layer for one run of a crew. */
export type DeckMaker = (crew: Readonly<{ cwd: string; redactor: Redactor }>) => Deck;
