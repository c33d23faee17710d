import type { Duplex } from 'node:stream';

/** Joins two streams: what the one says the other hears, and neither outlives the other. */
export function joinStreams(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.once('error', () => to.destroy());
    from.once('close', () => {
      // What is on its way to the other is still delivered, and nobody reads its answer.
      to.end();
      to.resume();
    });
    from.pipe(to);
  }
}
