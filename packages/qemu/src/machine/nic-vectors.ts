/**
 * Returns the number of interrupt vectors of an interface by its number of queue pairs: one for each queue, one for changes
 * of its configuration, and one for its control queue.
 */
export function vectorsForQueues(queues: number): number {
  return 2 * queues + 2;
}

/** Returns the number of queue pairs of an interface by its number of interrupt vectors. */
export function queuesForVectors(vectors: number): number {
  return (vectors - 2) / 2;
}
