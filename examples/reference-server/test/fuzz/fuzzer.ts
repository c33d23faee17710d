import { KnownIds } from './known-ids.js';
import type { Operation, OperationDescription } from './operations.js';
import { Random } from './random.js';
import { UNUSUAL_STRINGS, valueFor } from './values.js';

const TOKENS = [
  ...Array(9).fill('admin:demo'),
  ...Array(5).fill('ada:demo'),
  'bob:other',
  'eve:demo:reader',
  '',
  'a:b:c:d',
];
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS'];
const NO_VERSIONS = ['latest', '2.999', '-1.1', 'x', ''];
const SENDERS = 4;
/** The number of resources that each sender creates before other requests. */
const INITIAL_RESOURCES = 3;
const MAX_FINDINGS = 20;
/** The request timeout, which is longer than any operation takes. A request that times out is a finding. */
const REQUEST_TIMEOUT_MS = 60_000;

/** A request with an unexpected response. */
export interface Finding {
  readonly request: string;
  readonly outcome: string;
}

/** One of several concurrent senders, whose requests depend only on the seed and not on other senders. */
interface Sender {
  readonly random: Random;
  readonly known: KnownIds;
  /** The next operations. Initially, the queues of all senders together contain every operation once. */
  queue: Operation[];
}

interface SentRequest {
  readonly operation: Operation;
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** Sends random requests and collects unexpected responses. */
export class Fuzzer {
  readonly findings: Finding[] = [];
  /** Names of operations that were called, and of those that succeeded. */
  readonly called = new Set<string>();
  readonly succeeded = new Set<string>();
  sent = 0;
  readonly #url: string;
  readonly #operations: number;
  readonly #weighted: readonly Operation[];
  readonly #senders: readonly Sender[];

  constructor(url: string, operations: readonly Operation[], seed: number) {
    this.#url = url;
    this.#operations = new Set(operations.map(({ name }) => name)).size;
    this.#weighted = operations.flatMap((operation) => Array<Operation>(operation.weight).fill(operation));
    const order = new Random(seed).shuffled(operations);
    // Senders take operations from the end of their queue.
    const first = operations
      .filter((operation) => operation.first)
      .flatMap((one) => Array<Operation>(INITIAL_RESOURCES).fill(one));
    this.#senders = Array.from({ length: SENDERS }, (_, stream) => ({
      random: Random.derived(seed, stream),
      known: new KnownIds(),
      queue: [...order.filter((_, index) => index % SENDERS === stream), ...first],
    }));
  }

  /**
   * Sends this many requests, or fewer if a deadline (`performance.now()`) comes first, but every operation at least
   * once.
   */
  async run(requests: number, until: number): Promise<void> {
    const sendAll = async (sender: Sender) => {
      for (let count = 0; count < requests / SENDERS; count++) {
        const mayEnd = performance.now() > until && this.called.size === this.#operations;
        if (mayEnd || this.findings.length >= MAX_FINDINGS) return;
        await this.#send(sender);
      }
    };
    await Promise.all(this.#senders.map(sendAll));
  }

  async #send(sender: Sender): Promise<void> {
    if (sender.queue.length === 0) sender.queue = sender.random.shuffled(this.#weighted);
    const requested = requestFor(sender.queue.pop()!, sender);
    this.sent++;
    this.called.add(requested.operation.name);
    const { status, text } = await this.#responseTo(requested);
    if (status === undefined || (status >= 500 && !requested.operation.failures.has(status))) {
      const { operation, method, target, headers, body = '' } = requested;
      const request = `${operation.name}: ${method} ${target} ${JSON.stringify(headers)} ${body.slice(0, 2000)}`;
      this.findings.push({ request, outcome: `${status} ${text.slice(0, 500)}` });
    } else if (status < 300) {
      this.succeeded.add(requested.operation.name);
      sender.known.learn(requested.operation.path, text);
    }
  }

  async #responseTo({ method, target, headers, body }: SentRequest): Promise<{ status?: number; text: string }> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    try {
      const response = await fetch(this.#url + target, { method, headers, body, redirect: 'manual', signal });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      return { text: `no response: ${error} ${(error as Error).cause ?? ''}` };
    }
  }
}

function requestFor(operation: Operation, { random, known }: Sender): SentRequest {
  const description = random.pick(operation.descriptions);
  const [first, last] = description.minorVersions;
  const version = random.chance(0.03) ? random.pick(NO_VERSIONS) : `2.${first + random.below(last - first + 1)}`;
  const method = random.chance(0.03) ? random.pick(METHODS) : operation.method;
  const path = known.fillPath(operation, random, UNUSUAL_STRINGS);
  const slashes = random.chance(0.03) ? path.replaceAll('/', '//') : path;
  return {
    operation,
    method,
    target: slashes + queryFor(description, random, known),
    headers: {
      'X-Auth-Token': random.pick(TOKENS),
      'OpenStack-API-Version': `compute ${version}`,
      'Content-Type': random.chance(0.02) ? 'text/xml' : 'application/json',
    },
    body: method === 'GET' || method === 'HEAD' ? undefined : bodyFor(description, random, known),
  };
}

function bodyFor({ body }: OperationDescription, random: Random, ids: KnownIds): string | undefined {
  if (!body && !random.chance(0.05)) return undefined;
  const text = JSON.stringify(valueFor(body, random, ids));
  return random.chance(0.02) ? text.slice(0, random.below(text.length)) : text;
}

function queryFor({ parameters }: OperationDescription, random: Random, ids: KnownIds): string {
  const search = new URLSearchParams();
  for (const { name, in: place, schema } of parameters) {
    if (place !== 'query' || !random.chance(0.15)) continue;
    for (let times = random.chance(0.1) ? 2 : 1; times > 0; times--) {
      const value = random.chance(0.1)
        ? random.pick(UNUSUAL_STRINGS)
        : valueFor(schema?.items ?? schema, random, ids, name);
      search.append(name, (String(value) as any).toWellFormed());
    }
  }
  if (random.chance(0.03)) search.append('x', 'y');
  return search.size > 0 ? `?${search}` : '';
}
