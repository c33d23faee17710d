import type { TestCloud } from '../test-cloud.js';

/** Sends a request to a test cloud as its administrator. @throws Error if the cloud returns an error */
export async function requestAsAdmin(
  cloud: TestCloud,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Record<string, any>> {
  const response = await fetch(`${cloud.url}${path}`, {
    method,
    headers: {
      'X-Auth-Token': cloud.token(),
      ...(body !== undefined && !(body instanceof Uint8Array) && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text.slice(0, 500)}`);
  return text === '' ? {} : JSON.parse(text);
}
