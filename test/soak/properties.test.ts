// The properties that `npm test` tries with a third of their examples, with all of them and other seeds.
import "../../src/core/schema/jtd.test.ts";
import "../../src/core/secrets/redact.test.ts";
import "../../src/formats/yaml/simple-yaml.test.ts";
import "../../src/formats/yaml/yaml.test.ts";
import "../../src/runtime/network/web-target.test.ts";
import "../../src/tools/workspace/gitignore.test.ts";
import "../../src/tui/top/field-screen.test.ts";
import "../formats/write/convert.test.ts";
import "../runtime/execute/properties.test.ts";
