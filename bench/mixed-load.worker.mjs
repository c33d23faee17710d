// The load generator of the section `mixed`. Each message is a load: { url, rate, seconds, seed, servers, projects,
// writers, values }. The reply contains the sorted latencies of each operation, and the errors.
//
// The load is open: the time at which each request should be sent is determined in advance, and its latency is measured
// from that time, so a server that does not respond in time does not slow the load. The requests of one client follow
// each other: a request that waits for the response to the previous one is late, and the wait counts as part of its
// latency.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { measuredFrom, sessionsAt } from './mixed-plan.mjs';
import { idOf } from './server-process.mjs';

/** The interval between the intended times of consecutive requests of a session. */
const STEP_MS = 100;
/** The maximum number of polls for a state. */
const MAX_POLLS = 100;
const REQUEST_TIMEOUT_MS = 10_000;

const agent = new Agent({ keepAlive: true, maxSockets: 256, scheduling: 'lifo' });

/** Sends a request; resolves with the status and the body of the response. */
function send(url, { method, headers, body }) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers, timeout: REQUEST_TIMEOUT_MS }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(parts).toString() }));
      response.once('error', reject);
    });
    sent.once('timeout', () => sent.destroy(new Error(`no response within ${REQUEST_TIMEOUT_MS} ms`)));
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Returns the name of an operation: the method, the path template, the server action, and whether it has a query. */
function operationOf({ method, path, body, until }) {
  const [route] = path.split('?');
  const action = route.endsWith('/action') ? ` ${Object.keys(body)[0]}` : '';
  const query = path.includes('?') ? ' with a query' : '';
  return `${method} ${route.replace('/v2.1/', '/')}${action}${until ? ' until a state' : query}`;
}

/** Writers whose session failed: their volumes may still be attached, so later loads do not use them. */
const failedVolumes = new Set();

/** Measures one load. */
class Load {
  latencies = new Map();
  /** How often each error occurred. */
  errors = new Map();
  failed = 0;
  #load;
  #free;
  #begun = performance.now();

  constructor(load) {
    this.#load = load;
    this.#free = load.writers.filter(({ volume }) => !failedVolumes.has(volume));
  }

  async run() {
    const { rate, seconds, seed } = this.#load;
    const running = new Set();
    for (const session of sessionsAt(rate, seconds * 1000, seed)) {
      await this.#until(session.at);
      const run = this.#session(session).finally(() => running.delete(run));
      running.add(run);
    }
    await Promise.all(running);
  }

  async #until(at) {
    const left = this.#begun + at - performance.now();
    if (left > 0) await sleep(left);
  }

  /** Selects the subject of a session: a server and its owner, or the owner of a server to be created. */
  #client({ isLifecycle, chosen }) {
    const { servers, projects, values } = this.#load;
    if (isLifecycle) {
      const writer = this.#free.shift();
      if (!writer) throw new Error('the plan creates more servers at the same time than there are volumes');
      const { project, volume } = writer;
      return { writer, project, values: { ...values, volume, name: `made-${Math.random().toString(36).slice(2)}` } };
    }
    const index = Math.floor(chosen * servers);
    const name = `server-${String(index + 1).padStart(6, '0')}`;
    return { project: `p${index % projects}`, values: { ...values, server: idOf(index), name } };
  }

  async #session(session) {
    let client;
    try {
      client = this.#client(session);
      let at = session.at;
      for (const step of session.steps) at = await this.#step(client, step, at);
      if (client.writer) this.#free.push(client.writer);
    } catch (error) {
      this.failed++;
      if (client?.writer) failedVolumes.add(client.writer.volume);
      this.errors.set(error.message, (this.errors.get(error.message) ?? 0) + 1);
    }
  }

  /** Sends the requests of a step; returns the intended time of the next step. */
  async #step(client, step, begin) {
    let at = begin;
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      await this.#until(at);
      const { status, text } = await this.#timed(client, step, at);
      at += STEP_MS;
      if (step.until === 'gone' ? status === 404 : this.#isExpected(client, step, status, text)) return at;
    }
    throw new Error(`${operationOf(step)}: not ${step.until} after ${MAX_POLLS} requests`);
  }

  /** Returns whether the response is the expected one; false while the server is not in the awaited state. */
  #isExpected(client, step, status, text) {
    if (step.until === 'gone' && status === 200) return false;
    if (status !== step.status) throw new Error(`${operationOf(step)}: ${status} ${text.slice(0, 300)}`);
    if (step.method === 'POST' && step.path === '/v2.1/servers') client.values.server = JSON.parse(text).server.id;
    if (!step.until) return true;
    const [{ status: shown }] = Object.values(JSON.parse(text));
    if (/^error$/i.test(shown)) throw new Error(`${operationOf(step)}: ${shown}: ${text.slice(0, 2000)}`);
    return shown === step.until;
  }

  async #timed({ project, values }, step, at) {
    const replacements = { ...values, project };
    const filled = (text) => text.replaceAll(/\{(\w+)\}/g, (whole, name) => replacements[name] ?? whole);
    const body = step.body === undefined ? undefined : filled(JSON.stringify(step.body));
    const headers = {
      Accept: 'application/json',
      'X-Auth-Token': `user-of-${project}:${project}`,
      ...(step.version && { 'OpenStack-API-Version': `compute ${step.version}` }),
      ...(body && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    };
    const from = measuredFrom(this.#begun + at, performance.now());
    const response = await send(this.#load.url + filled(step.path), { method: step.method, headers, body }).catch(
      (error) => {
        throw new Error(`${operationOf(step)}: ${error.message}`);
      },
    );
    const operation = operationOf(step);
    const times = this.latencies.get(operation) ?? [];
    times.push(performance.now() - from);
    this.latencies.set(operation, times);
    return response;
  }
}

process.on('message', async (message) => {
  const load = new Load(message);
  await load.run();
  process.send({
    latencies: [...load.latencies].map(([operation, times]) => [operation, times.sort((a, b) => a - b)]),
    errors: [...load.errors],
    failed: load.failed,
  });
});
process.on('disconnect', () => process.exit(0));
