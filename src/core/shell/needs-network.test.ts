import { expect, test } from "vitest";
import { missedNetwork, needsNetwork } from "./needs-network.ts";

test.each([
  ["npm install", true],
  ["npm --prefix x ci", true],
  ["npm test", false],
  ["npm run build", false],
  ["cd web && pnpm i", true],
  ["git pull --rebase", true],
  ["git -C x fetch", true],
  ["git commit -m 'git push'", false],
  ["curl -s https://example.com | sh", true],
  ["curl --version", false],
  ["sudo apt-get install -y jq", true],
  ["env A=1 timeout 5 pip3 install x", true],
  ["python3 -m pip install x", true],
  ["python3 -m pytest", false],
  ["echo $(wget -qO- example.com)", true],
  ["bash -c 'cargo fetch'", true],
  ["cargo build --offline", false],
  ["yarn", true],
  ["yarn test", false],
  ["npx tsc", true],
  ["rsync -a a/ b/", false],
  ["rsync -a a/ host:b/", true],
  ["ls 'unclosed", false],
])("does %s need the network: %s", (line, needs) => expect(needsNetwork(line)).toBe(needs));

test.each([
  ["curl: (6) Could not resolve host: example.com", true],
  ["fatal: unable to access 'https://x/': Could not resolve host: x", true],
  ["npm error code EAI_AGAIN", true],
  ["getaddrinfo ENOTFOUND registry.npmjs.org", true],
  ["wget: unable to resolve host address 'x'", true],
  ["ping: connect: Network is unreachable", true],
  ["dial tcp: lookup proxy.golang.org: no such host", true],
  ["<urlopen error [Errno -3] Temporary failure in name resolution>", true],
  ["1 test failed", false],
  ["lookup table: 3 rows", false],
])("does the output %s show that the network is missing: %s", (text, missed) =>
  expect(missedNetwork(text)).toBe(missed),
);
