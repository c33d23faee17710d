import type { Api } from '../api-under-test.js';
import type { ListedOperation } from './reference.js';

/** The response to one request. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The fault's message; undefined if the body is not a fault of the compute API. */
  readonly message: string | undefined;
}

interface RequestResult {
  /** `USER[:PROJECT[:ROLE,ROLE]]`. */
  readonly token: string;
  readonly version?: string;
  readonly path: string;
  readonly query?: string;
  /** Sent as JSON; default: no body. */
  readonly body?: unknown;
  /** Default: `/v2.1`. */
  readonly mount?: string;
}

/** Sends one request, with the headers of clients that accept JSON. */
export async function sendRequest(
  { url }: Pick<Api, 'url'>,
  method: string,
  requested: RequestResult,
): Promise<TestResponse> {
  const { token, version, path, query = '', body, mount = '/v2.1' } = requested;
  const response = await fetch(`${url}${mount}${path}${query && `?${query}`}`, {
    method,
    redirect: 'manual',
    headers: {
      Accept: 'application/json',
      'X-Auth-Token': token,
      ...(version && { 'OpenStack-API-Version': `compute ${version}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, message: messageIn(text) };
}

function messageIn(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  const [fault] = Object.values(JSON.parse(text) as Record<string, { message?: string; code?: unknown } | null>);
  return typeof fault?.code === 'number' ? fault.message : undefined;
}

/** The message for paths that do not exist at a version, regardless of other versions. */
const NOTHING_THERE = 'The resource could not be found.';

/** Returns whether a response means that no operation has this method and path at any version. */
export function isUnrouted(result: TestResponse): boolean {
  return result.status === 404 && result.headers.get('openstack-api-version') === null;
}

/** Returns whether a response means that the operation exists, but not at this version. */
export function isOutsideWindow(response: TestResponse): boolean {
  return response.status === 404 && response.message === NOTHING_THERE && !isUnrouted(response);
}

/** Returns whether a response means that the path has actions, but not this one. */
export function isUnknownAction(response: TestResponse): boolean {
  return response.status === 400 && response.message?.startsWith('There is no such action') === true;
}

/** Returns the path of an operation with its parameters; a parameter without a value gets an unknown id. */
export function pathOf({ path }: ListedOperation, params: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(params[name] ?? 'nothing-of-that-name'));
}

/** Returns the smallest body that reaches an operation: none, an empty object, or the action's key. */
export function minimalBody(listed: ListedOperation): unknown {
  if (listed.action) return { [listed.action]: null };
  return listed.method === 'POST' || listed.method === 'PUT' ? {} : undefined;
}
