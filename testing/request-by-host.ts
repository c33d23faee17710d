import { request } from 'node:http';

/**
 * Sends a GET request with this `Host` header to a server, regardless of the host in its URL, and returns the status
 * and the body.
 */
export function requestByHost(
  url: string,
  host: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { ...headers, host } }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject).end();
  });
}
