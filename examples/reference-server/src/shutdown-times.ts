/** How long requests in flight may take after the drain time. */
export const IN_FLIGHT_GRACE_MS = 8_000;

/** How long the release of leases may take after the last connection is closed. */
export const RELEASE_LEASES_MS = 10_000;

/** How long idle connections of a worker that is being replaced stay open. */
export const RETIRED_WORKER_IDLE_MS = 8_000;

/** How long the replacement of a worker waits for the previous worker to exit. */
export const REPLACEMENT_WAIT_MS = 10_000;
