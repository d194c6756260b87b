/** Payloads for tests, typed by the contract: each takes what matters to the test, and fills in the rest. */

export * from "./pool_builders.ts";
export * from "./run_builders.ts";
export * from "./stream_builders.ts";
export * from "./telemetry_builders.ts";
