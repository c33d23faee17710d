/**
 * The default timeout of tests that wait for a condition. It only limits how long a failure takes, and allows for
 * machines that are slow under load.
 */
export const CONDITION_TIMEOUT_MS = 50_000;
