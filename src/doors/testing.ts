export { never, type Script, type ScriptedModel, type ScriptedTurn, scripted } from "../models/scripted/scripted.ts";
export { type Cassette, readCassette } from "../runtime/cassette/cassette.ts";
export type { Deck, DeckMaker } from "../runtime/cassette/deck.ts";
export { recording, saveTo } from "../runtime/cassette/record.ts";
export { replaying } from "../runtime/cassette/replay.ts";
export {
  type ProviderRequest,
  type ProviderScript,
  type ProviderServer,
  type ProviderServerOptions,
  startProviderServer,
} from "../testing/provider-server.ts";
export type { FaultyTurn, ProviderCall, ProviderTurn, ProviderUsage, SpokenTurn } from "../testing/provider-turn.ts";
