import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closing, serve } from './serve.js';
import { BLOCKED, startWorker } from './workers.js';

interface Detailed {
  readonly detailed: boolean;
  readonly gc: { counts: number[]; threshold: number[] };
  readonly greenthreads: string[];
  readonly now: string;
  readonly platform: string;
  readonly python_version: string;
  readonly threads: string[];
}

async function detailedServer(options: Parameters<typeof closing>[0] = {}) {
  const { request } = await serve(closing({ detailed: true, ...options }));
  const json = async () =>
    JSON.parse((await request('/healthcheck', { headers: { accept: 'application/json' } })).body) as Detailed;
  return { request, json };
}

describe('detailed mode', () => {
  it('has these keys, in sorted order', async () => {
    const { json } = await detailedServer();
    expect(Object.keys(await json())).toEqual([
      'detailed',
      'gc',
      'greenthreads',
      'now',
      'platform',
      'python_version',
      'reasons',
      'threads',
    ]);
  });

  it('describes this runtime', async () => {
    const { json, request } = await detailedServer();
    const report = await json();
    expect(report.python_version).toBe(`Node.js ${process.version} (V8 ${process.versions.v8})`);
    expect(report.platform).toContain(process.arch);
    expect(report.now).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/);
    expect(Math.abs(Date.parse(`${report.now.replace(' ', 'T')}Z`) - Date.now())).toBeLessThan(60_000);
    expect(report.gc.counts.map(Number.isSafeInteger)).toEqual([true, true, true]);
    expect(report.gc.threshold.map((bytes) => Number.isSafeInteger(bytes) && bytes > 0)).toEqual([true, true, true]);
    const page = (await request('/healthcheck', { headers: { accept: 'text/html' } })).body;
    expect(page).toContain(`<B>Host:</B><PRE>${hostname()}</PRE>`);
  });

  it('counts garbage collections', async () => {
    const { json } = await detailedServer();
    let garbage: unknown[] = [];
    for (let round = 0; round < 200; round++) garbage = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    expect(garbage).toHaveLength(20_000);
    expect((await json()).gc.counts[0]).toBeGreaterThan(0);
  });
});

describe('the threads of a detailed response', () => {
  it('start with the main thread, with the stack of its response', async () => {
    const { json } = await detailedServer();
    const [main] = (await json()).threads;
    expect(main).toMatch(/^\[main\]\n {4}at .*server-report/);
  });

  it('have the real stack of a worker that is blocked in a loop', async () => {
    await startWorker(BLOCKED, 'stuck');
    const { json } = await detailedServer();
    // The worker sends its message directly before it enters the loop.
    await expect
      .poll(async () => (await json()).threads.find((stack) => stack.includes('stuck')))
      .toMatch(/^\[worker \d+\] stuck\n {4}at spinForEver \(/);
  });

  it('mark an idle worker as idle', async () => {
    await startWorker('setInterval(() => undefined, 60_000);', 'lazy');
    const { json } = await detailedServer();
    // The worker sends its message before its first tick is over.
    await expect
      .poll(async () => (await json()).threads.find((stack) => stack.includes('lazy')))
      .toMatch(/^\[worker \d+\] lazy\n {4}\(idle: waiting in its event loop\)$/);
  });

  it('include a worker that is blocked in native code, and the worker of a worker', async () => {
    await startWorker(
      'function waitForEver() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }\nwaitForEver();',
    );
    await startWorker(
      `const { Worker } = require('node:worker_threads');
       new Worker('function nested() { while (true); }\\nnested();', { eval: true });
       setInterval(() => undefined, 60_000);`,
    );
    const { json } = await detailedServer();
    await expect.poll(async () => (await json()).threads.join('\n')).toMatch(/at nested \(/);
    await expect.poll(async () => (await json()).threads.join('\n')).toMatch(/at waitForEver \(/);
  });

  it('contain one entry for each worker, and leave no listeners in the workers', async () => {
    const worker = await startWorker(
      "const { parentPort } = require('node:worker_threads'); parentPort.on('message', () => parentPort.postMessage(Error.stackTraceLimit));",
      'asked',
    );
    const { json } = await detailedServer();
    const before = (await json()).threads.filter((stack) => stack.includes('asked'));
    await Promise.all(Array.from({ length: 20 }, json));
    expect(before).toHaveLength(1);
    const limit = new Promise((resolve) => worker.once('message', resolve));
    worker.postMessage('?');
    expect(await limit).toBe(10);
    await worker.terminate();
    await expect.poll(async () => (await json()).threads.filter((stack) => stack.includes('asked'))).toEqual([]);
  });
});

/** A check that creates the resources of a test during its probe. */
let createResources: () => unknown = () => undefined;
const probing = {
  name: 'probing',
  check: () => {
    void createResources();
    return { state: 'available' as const };
  },
};

describe('the pending asynchronous resources of a detailed response', () => {
  it('are the types of the resources that keep the process alive, unless resources are tracked', async () => {
    const { json } = await detailedServer();
    const timer = setTimeout(() => undefined, 60_000);
    onTestFinished(() => clearTimeout(timer));
    const { greenthreads } = await json();
    expect(greenthreads).toContain('Timeout');
    expect(greenthreads).toContain('TCPServerWrap');
    expect(greenthreads.every((entry) => /^\w+$/.test(entry))).toBe(true);
  });

  it('exclude resources that the probe itself creates, until it has ended', async () => {
    const { json } = await detailedServer({ trackResources: true, backends: [probing] });
    const ownEntries = async () => (await json()).greenthreads.filter((entry) => entry.includes('pendingResources'));
    let settle: () => void = () => undefined;
    function pendingResources() {
      return new Promise<void>((resolve) => {
        settle = resolve;
      });
    }
    createResources = pendingResources;
    expect(await ownEntries()).toEqual([]);
    createResources = () => undefined;
    await expect.poll(async () => (await ownEntries()).length).toBe(1);
    settle();
    // Node caches the text of the Date header for a second.
    const modules = ['endpoint', 'health-response', 'healthcheck'];
    for (const name of modules) expect(existsSync(new URL(`../src/${name}.ts`, import.meta.url)), name).toBe(true);
    const probeResources = async () =>
      (await json()).greenthreads.filter(
        (entry) =>
          modules.some((name) => new RegExp(`healthcheck.src.${name}\\b`).test(entry)) && !entry.includes('at utcDate'),
      );
    await expect.poll(probeResources).toEqual([]);
  });

  it('contain an entry from the start of a timer to its end, with the stack that started it', async () => {
    const { json } = await detailedServer({ trackResources: true });
    const timer = (function startsTheTimer() {
      return setTimeout(() => undefined, 60_000);
    })();
    const ownEntries = async () => (await json()).greenthreads.filter((entry) => entry.includes('startsTheTimer'));
    const entries = await ownEntries();
    clearTimeout(timer);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatch(/^Timeout \(async id \d+, triggered by \d+\)\n( {4}at .*\n)* {4}at startsTheTimer \(/);
    expect(entries[0]).not.toMatch(/async-resources|internal\/async_hooks/);
    await expect.poll(ownEntries).toEqual([]);
  });

  it('include pending promises, until they are settled', async () => {
    const { json } = await detailedServer({ trackResources: true });
    let settle: () => void = () => undefined;
    const promise = (function makesThePromise() {
      return new Promise<void>((resolve) => {
        settle = resolve;
      });
    })();
    const ownEntries = async () =>
      (await json()).greenthreads.filter((entry) => /^PROMISE[\s\S]*makesThePromise/.test(entry));
    expect(await ownEntries()).toHaveLength(1);
    settle();
    await promise;
    await expect.poll(ownEntries).toEqual([]);
  });

  it('exclude promises if configured', async () => {
    const { json } = await detailedServer({ trackResources: true, trackPromises: false });
    const { greenthreads } = await json();
    expect(greenthreads.some((entry) => entry.startsWith('TCPSERVERWRAP'))).toBe(true);
    expect(greenthreads.filter((entry) => entry.startsWith('PROMISE'))).toEqual([]);
  });

  it('are not tracked after close()', async () => {
    const health = closing({ detailed: true, trackResources: true });
    const { request } = await serve(health);
    health.close();
    const timer = setTimeout(() => undefined, 60_000);
    onTestFinished(() => clearTimeout(timer));
    const { body } = await request('/healthcheck', { headers: { accept: 'application/json' } });
    expect(JSON.parse(body).greenthreads).toEqual([]);
  });
});

/** Runs a program in a separate process, on the built package, and returns its output, parsed as JSON. */
function inOwnProcess(script: string): unknown {
  const main = new URL('../dist/index.js', import.meta.url).href;
  const source = `import { healthcheck } from ${JSON.stringify(main)};\n${script}`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' }));
}

describe('in a separate process', () => {
  it('no hook is installed unless resources are tracked, and no observer unless an endpoint is detailed', () => {
    const seen = inOwnProcess(`
      import hooks from 'node:async_hooks';
      import perf from 'node:perf_hooks';
      import { syncBuiltinESMExports } from 'node:module';
      const calls = [];
      const { createHook } = hooks;
      hooks.createHook = (callbacks) => { calls.push('hook'); return createHook(callbacks); };
      const { observe } = perf.PerformanceObserver.prototype;
      perf.PerformanceObserver.prototype.observe = function (what) { calls.push('observer'); return observe.call(this, what); };
      syncBuiltinESMExports();
      await healthcheck({ backends: 'disable_by_file', log: false }).status();
      const without = [...calls];
      const both = (options) => {
        calls.length = 0;
        for (const each of [healthcheck(options), healthcheck(options)]) each.close();
        return [...calls].sort();
      };
      const detailed = both({ detailed: true });
      const tracked = both({ detailed: true, trackResources: true });
      console.log(JSON.stringify({ without, detailed, tracked }));
    `);
    expect(seen).toEqual({ without: [], detailed: ['observer'], tracked: ['hook', 'observer'] });
  });

  it('neither a detailed endpoint nor a background check keeps the process alive', () => {
    const seen = inOwnProcess(`
      const health = healthcheck({ detailed: true, backends: [{ name: 'a', refreshMs: 60_000, check: () => ({ state: 'available' }) }] });
      console.log(JSON.stringify(await health.status()));
    `);
    expect(seen).toMatchObject({ state: 'available' });
  });

  it('an endpoint that is served by a worker shows the main thread and the other workers too', () => {
    const main = new URL('../dist/index.js', import.meta.url).href;
    const served = `
      import { createServer, get } from 'node:http';
      import { parentPort } from 'node:worker_threads';
      import { healthcheck } from ${JSON.stringify(main)};
      const server = createServer(healthcheck({ detailed: true })).listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        get({ port, host: '127.0.0.1', path: '/healthcheck', headers: { accept: 'application/json' } }, async (res) => {
          parentPort.postMessage(JSON.parse((await res.toArray()).join('')).threads);
        });
      });`;
    const threads = inOwnProcess(`
      import { Worker } from 'node:worker_threads';
      const stuck = new Worker('function spinForEver() { while (true); }\\nspinForEver();', { eval: true, name: 'stuck' });
      await new Promise((resolve) => stuck.once('online', resolve));
      const server = new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(served)})));
      server.once('message', (threads) => { console.log(JSON.stringify(threads)); process.exit(); });
    `) as string[];
    expect(threads.map((stack) => stack.split('\n')[0])).toEqual(['[main]', '[worker 1] stuck', '[worker 2]']);
    expect(threads[1]).toContain('at spinForEver (');
    expect(threads[2]).toContain('server-report');
  });
});
