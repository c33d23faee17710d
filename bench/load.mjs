import autocannon from 'autocannon';

/**
 * Autocannon checks only at the end of each of its samples whether it is done. A default sample takes one second, which
 * would be a large part of a round.
 */
const SAMPLE_MS = 20;

/**
 * Sends requests to one URL from several clients. The options of autocannon set a duration (`duration`) or a number of
 * requests (`amount`).
 *
 * @throws Error if a response is not successful
 */
export async function load(url, options) {
  const connections = Math.min(16, options.amount ?? 16);
  const result = await autocannon({ url, connections, sampleInt: SAMPLE_MS, ...options });
  const { non2xx, errors } = result;
  if (non2xx + errors > 0)
    throw new Error(`${url}: ${non2xx} responses were not successful, ${errors} requests failed`);
  return result;
}

/** Responses per second. */
export async function requestsPerSecond(url, seconds, options) {
  const result = await load(url, { duration: seconds, ...options });
  return result['2xx'] / result.duration;
}
