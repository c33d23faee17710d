import { afterAll, afterEach, beforeAll, expect, onTestFinished } from 'vitest';
import { type CloudOptions, startCloud, type TestCloud } from '../src/index.js';

/** Starts a cloud that stops when the test ends. An error in the cloud fails the test. */
export async function cloudUnderTest(options: CloudOptions = {}): Promise<TestCloud> {
  const errors: unknown[] = [];
  const cloud = await startCloud({ onError: (error) => errors.push(error), ...options });
  onTestFinished(async () => {
    await cloud.stop();
    expect(errors).toEqual([]);
  });
  return cloud;
}

/**
 * Starts one cloud for all tests of a `describe`, which must not depend on the order of the tests. An error in the
 * cloud fails the current test.
 */
export function sharedCloud(): () => TestCloud {
  const errors: unknown[] = [];
  let cloud: TestCloud;
  beforeAll(async () => {
    cloud = await startCloud({ onError: (error) => errors.push(error) });
  });
  afterEach(() => expect(errors.splice(0)).toEqual([]));
  afterAll(() => cloud.stop());
  return () => cloud;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

/** Returns a function that sends requests with a token and, to the compute service, a microversion. */
export function clientOf(cloud: TestCloud, token: string | undefined = cloud.token(), version = '2.90') {
  return async function request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const response = await fetch(`${cloud.url}${path}`, {
      method,
      headers: {
        ...(token && { 'X-Auth-Token': token }),
        ...(path.startsWith('/compute') && { 'OpenStack-API-Version': `compute ${version}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      redirect: 'manual',
    });
    const text = await response.text();
    const json = text !== '' && /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  };
}

export const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';
export const NETWORK = '2e2b1f4c-5c58-4f0c-9a3b-0f6a5d1c7e10';

/** Returns the body of a create request, by default without a network. */
export function serverBody(fields: Record<string, unknown> = {}) {
  return { server: { name: 'web', flavorRef: '1', imageRef: IMAGE, networks: 'none', ...fields } };
}
