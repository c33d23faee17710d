/** How long requests in flight may take after the drain time. */
export const GRACE_MS = 8_000;

/** How long the release of leases may take after the last connection is closed. */
export const RELEASE_LEASES_MS = 10_000;

/** How long idle connections of a worker that is being replaced stay open. */
export const RETIRED_IDLE_MS = 8_000;

/** How long the replacement of the next worker waits for the end of the previous one. */
export const REPLACED_MS = 10_000;
