// Loaded by a test with --require: a program that waits before it tries again does so much sooner.
const wait = globalThis.setTimeout;
globalThis.setTimeout = (call, delay, ...rest) =>
  wait(call, delay > 500 && delay < 120000 ? delay / 50 : delay, ...rest);
