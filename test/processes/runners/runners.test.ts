import { runnerSuite } from "./suite.ts";

runnerSuite("local", { elsewhere: false });
runnerSuite("process", { elsewhere: true });
runnerSuite("thread", { elsewhere: true });
