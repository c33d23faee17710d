/**
 * Returns how many interrupt vectors an interface with this many queue pairs needs: one for each queue, one for changes
 * of its configuration, and one for its control queue.
 */
export function vectorsForQueues(queues: number): number {
  return 2 * queues + 2;
}

/** Returns how many queue pairs an interface with this many interrupt vectors has. */
export function queuesForVectors(vectors: number): number {
  return (vectors - 2) / 2;
}
