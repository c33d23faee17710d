/** Time that requests in flight have to end once the drain time is over. */
export const GRACE_MS = 8_000;

/** How long background work may take to be handed back once the last connection is closed. */
export const HAND_BACK_MS = 10_000;
