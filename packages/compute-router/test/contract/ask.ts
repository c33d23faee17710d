import type { Api } from '../api-under-test.js';
import type { ListedOperation } from './reference.js';

/** What came back from one request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The fault's text; undefined for anything that is no fault of the compute API. */
  readonly message: string | undefined;
}

interface Asked {
  /** `USER[:PROJECT[:ROLE,ROLE]]`. */
  readonly token: string;
  readonly version?: string;
  readonly path: string;
  readonly query?: string;
  /** Sent as JSON; left out: no body. */
  readonly body?: unknown;
  /** Default `/v2.1`. */
  readonly mount?: string;
}

/** Sends one request, as clients that want JSON do. */
export async function ask({ url }: Pick<Api, 'url'>, method: string, asked: Asked): Promise<Answer> {
  const { token, version, path, query = '', body, mount = '/v2.1' } = asked;
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

/** What the API says about addresses that it does not have at a version, without saying whether others have them. */
const NOTHING_THERE = 'The resource could not be found.';

/** Whether an answer means: no operation of this method and path at any version. */
export function isUnrouted(answer: Answer): boolean {
  return answer.status === 404 && answer.headers.get('openstack-api-version') === null;
}

/** Whether an answer means: the operation exists, but not at this version. */
export function isOutsideWindow(answer: Answer): boolean {
  return answer.status === 404 && answer.message === NOTHING_THERE && !isUnrouted(answer);
}

/** Whether an answer means: the path takes actions, but has never heard of this one. */
export function isUnknownAction(answer: Answer): boolean {
  return answer.status === 400 && answer.message?.startsWith('There is no such action') === true;
}

/** The path of an operation with its parameters filled in; a parameter without a value gets the name of nothing. */
export function pathOf({ path }: ListedOperation, params: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(params[name] ?? 'nothing-of-that-name'));
}

/** The least body that reaches an operation: none, an empty object, or the action's key. */
export function leastBody(listed: ListedOperation): unknown {
  if (listed.action) return { [listed.action]: null };
  return listed.method === 'POST' || listed.method === 'PUT' ? {} : undefined;
}
