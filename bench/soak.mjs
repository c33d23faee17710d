import { measureLoad, quantile } from './mixed-measure.mjs';

/** Requests per second. */
const RATE = 300;

/**
 * Sends a load for a number of minutes. Returns, for each minute, the heap size after a full garbage collection, the
 * resident memory, and the 99th percentile of the latency.
 */
export async function soak(what, cloud, generator, minutes) {
  const rows = [];
  for (let minute = 1; minute <= minutes; minute++) {
    const { all, errors, failed, memory } = await measureLoad(cloud, generator, {
      rate: RATE,
      seconds: 60,
      seed: minute,
    });
    for (const error of errors) console.error(`${what}, minute ${minute}: ${error}`);
    const begin = `${what}, ${RATE}/s, minute ${minute}`;
    rows.push(
      { what: `${begin}: heap after a collection`, ours: (await cloud.heapBytes()) / 2 ** 20, unit: 'MiB' },
      { what: `${begin}: resident memory`, ours: memory / 2 ** 20, unit: 'MiB' },
      { what: `${begin}: all operations, p99`, ours: quantile(all, 0.99), unit: 'ms' },
      { what: `${begin}: errors`, ours: failed, unit: 'sessions', budget: '<= 0' },
    );
  }
  return rows;
}
