/**
 * The default timeout of tests that wait for a condition: a limit for failures, not a measurement.
 * Machines under load are slow.
 */
export const CONDITION_TIMEOUT_MS = 50_000;
