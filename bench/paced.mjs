import { Agent, request } from 'node:http';

/** Sends one request on one connection; throws if the response is not successful. */
function sendRequest(agent, url, { method, headers, body }) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      response.resume();
      const success = response.statusCode >= 200 && response.statusCode < 300;
      response.once('end', () => (success ? resolve() : reject(new Error(`${url}: ${response.statusCode}`))));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/**
 * Sends requests to one URL at a fixed rate per second (`rate`), alternating between several connections. Autocannon
 * with a rate sends all requests of a second at its beginning, on all connections concurrently.
 *
 * @throws Error if a response is not successful
 */
export async function sendAtRate(url, { amount, rate, connections = 16, method = 'GET', headers = {}, body }) {
  const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const sentAt = [];
  const begun = performance.now();
  try {
    for (let index = 0; index < amount; index++) {
      const waits = begun + (index * 1000) / rate - performance.now();
      if (waits > 0) await new Promise((resolve) => setTimeout(resolve, waits));
      sentAt.push(sendRequest(agents[index % connections], url, { method, headers, body }));
    }
    await Promise.all(sentAt);
  } finally {
    for (const agent of agents) agent.destroy();
  }
}
