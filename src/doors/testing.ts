export { never, scripted, type Script, type Scripted, type ScriptedTurn } from "../models/scripted/scripted.ts";
export {
  startProviderServer,
  type ProviderRequest,
  type ProviderScript,
  type ProviderServer,
  type ProviderServerOptions,
} from "../testing/provider-server.ts";
export type { FaultyTurn, ProviderCall, ProviderTurn, ProviderUsage, SpokenTurn } from "../testing/provider-turn.ts";
export { readCassette, type Cassette, type Deck, type DeckMaker } from "../runtime/cassette/cassette.ts";
export { recording, saveTo } from "../runtime/cassette/record.ts";
export { replaying } from "../runtime/cassette/replay.ts";
