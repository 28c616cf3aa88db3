import fc from "../../node_modules/fast-check/lib/fast-check.js";

/** Replaces fast-check in the tests of a change: a property without its own seed always has the same one. */
fc.configureGlobal({ seed: 20_261_116 });

export default fc;
