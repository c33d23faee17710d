/**
 * Returns the number of interrupt vectors for an interface with the given number of queue pairs: one for each queue,
 * one for configuration changes, and one for the control queue.
 */
export function vectorsForQueues(queues: number): number {
  return 2 * queues + 2;
}

/** Returns the number of queue pairs of an interface with the given number of interrupt vectors. */
export function queuesForVectors(vectors: number): number {
  return (vectors - 2) / 2;
}
