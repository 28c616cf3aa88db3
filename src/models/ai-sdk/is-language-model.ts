import { isRecord } from "../../core/text/json.ts";

/** A model object of the AI SDK's ecosystem, in any version of its specification from 2 to 4. */
export type LanguageModel = Readonly<{
  specificationVersion: string;
  provider: string;
  modelId: string;
  doStream(options: never): PromiseLike<Readonly<{ stream: unknown }>>;
}>;

/** True for an object with the interface of an AI SDK model. */
export function isLanguageModel(value: unknown): value is LanguageModel {
  return isRecord(value) && typeof value["doStream"] === "function" && typeof value["modelId"] === "string";
}
