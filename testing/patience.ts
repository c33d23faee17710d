/**
 * How long tests wait for what must come, unless they say otherwise: a bound for what never comes, not a measure. Machines
 * under load take their time.
 */
export const PATIENCE_MS = 50_000;
