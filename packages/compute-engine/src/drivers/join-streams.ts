import type { Duplex } from 'node:stream';

/** Connects two streams in both directions; when either ends, both do. */
export function joinStreams(first: Duplex, second: Duplex): void {
  for (const [from, to] of [
    [first, second],
    [second, first],
  ] as const) {
    from.once('error', () => to.destroy());
    from.once('close', () => {
      // Pending bytes are still delivered to the other stream, and the output of that stream is discarded.
      to.end();
      to.resume();
    });
    from.pipe(to);
  }
}
