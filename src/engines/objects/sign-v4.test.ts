import { describe, expect, test } from "vitest";
import { signedHeaders } from "./sign-v4.ts";

/** The examples in the documentation of S3. */
const key = {
  id: "AKIAIOSFODNN7EXAMPLE",
  secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  service: "s3",
};
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const at = new Date("2013-05-24T00:00:00Z");

describe("signing a request", () => {
  test.each([
    ["test.txt", { range: "bytes=0-9" }, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"],
    ["?lifecycle", {}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
    ["?max-keys=2&prefix=J", {}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"],
  ])("the signature of GET /%s equals the documented example", (path, headers, signature) => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com/${path}`);
    const signed = signedHeaders({ method: "GET", url, headers, bodyHash: EMPTY }, key, at);
    expect(signed["authorization"]).toContain(`Signature=${signature}`);
  });

  test("punctuation in a query string is part of the signature", () => {
    const signatures = ["a=(", "a=)", "a='", "a=!", "a=*"].map((query) => {
      const url = new URL(`https://examplebucket.s3.amazonaws.com/?${query}`);
      return signedHeaders({ method: "GET", url, bodyHash: EMPTY }, key, at)["authorization"];
    });
    expect(new Set(signatures).size).toBe(5);
  });
});
