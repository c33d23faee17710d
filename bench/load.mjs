import autocannon from 'autocannon';

/** It looks whether it is through at the end of each sample; its own second would be a large part of a round. */
const SAMPLE_MS = 20;

/**
 * Asks one URL with several clients, for so many seconds (`duration`) or requests (`amount`), as autocannon has it.
 *
 * @throws Error where an answer is no success
 */
export async function load(url, options) {
  const connections = Math.min(16, options.amount ?? 16);
  const result = await autocannon({ url, connections, sampleInt: SAMPLE_MS, ...options });
  const { non2xx, errors } = result;
  if (non2xx + errors > 0) throw new Error(`${url}: ${non2xx} answers were no success, ${errors} requests failed`);
  return result;
}

/** Answers in a second. */
export async function requestsPerSecond(url, seconds, options) {
  const result = await load(url, { duration: seconds, ...options });
  return result['2xx'] / result.duration;
}
