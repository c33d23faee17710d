/**
 * Returns the interrupt vectors of an interface with a number of queue pairs: one for each queue, one for changes of its
 * configuration, and one for its control queue.
 */
export function vectorsOf(queues: number): number {
  return 2 * queues + 2;
}

/** Returns the number of queue pairs of an interface with a number of interrupt vectors. */
export function queuesWith(vectors: number): number {
  return (vectors - 2) / 2;
}
