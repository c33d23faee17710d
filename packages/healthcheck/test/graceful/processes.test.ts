import { Agent, request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { requestFrom } from '../serve.js';
import { startProgram } from '../start-program.js';

async function start(mode = '') {
  const program = await startProgram('graceful/service.ts', { MODE: mode });
  const ports = await eventually(() => {
    const [, port, healthPort] = /^ports (\d+) (\d+)\n/.exec(program.output()) ?? [];
    expect(healthPort).toBeDefined();
    return { port: Number(port), healthPort: Number(healthPort) };
  });
  /** All lines so far, without the first. */
  const lines = () => program.output().trim().split('\n').slice(1);
  return { ...program, ...ports, lines };
}

/** Sends sequential requests over persistent connections until it is stopped, like a load balancer. */
function load(port: number, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  onTestFinished(() => agent.destroy());
  const outcomes: string[] = [];
  let stopped = false;
  const send = () =>
    new Promise<string>((resolve) => {
      request({ host: '127.0.0.1', port, agent, path: '/quick' }, (res) => {
        let body = '';
        res.setEncoding('utf8').on('data', (chunk) => (body += chunk));
        res.on('end', () => resolve(body));
        res.on('error', (error) => resolve(`cut: ${error.message}`));
      })
        .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
        .end();
    });
  const lane = async () => {
    while (!stopped) outcomes.push(await send());
  };
  const over = Promise.all(Array.from({ length: connections }, lane));
  const stop = async () => {
    stopped = true;
    await over;
  };
  return { outcomes, stop };
}

describe('a process that receives SIGTERM during requests', () => {
  it('responds to all requests, resets no connection, and exits with 0', async () => {
    const { child, port, healthPort, ended, lines } = await start('loaded');
    expect((await requestFrom('127.0.0.1', healthPort, '/readyz')).status).toBe(200);
    const { outcomes, stop } = load(port, 20);
    await eventually(() => expect(outcomes.length).toBeGreaterThan(100));
    const slow = Array.from({ length: 5 }, () => requestFrom('127.0.0.1', port, '/slow'));
    await eventually(() => expect(lines()).toEqual(slow.map(() => 'slow')));
    child.kill('SIGTERM');
    await eventually(async () => expect((await requestFrom('127.0.0.1', healthPort, '/readyz')).status).toBe(503));
    expect((await requestFrom('127.0.0.1', healthPort, '/livez')).status).toBe(200);
    // Later requests may find a closed port.
    await stop();
    expect(new Set(outcomes)).toEqual(new Set(['done /quick']));
    expect((await Promise.all(slow)).map(({ body }) => body)).toEqual(slow.map(() => 'done /slow'));
    expect(await ended).toBe(0);
    expect(lines().slice(5)).toEqual(['before shutdown, ready: false', 'first hook', 'second hook']);
  });

  it('completes the work of a beacon after the response, before the hooks', async () => {
    const { child, port, ended, lines } = await start();
    expect((await requestFrom('127.0.0.1', port, '/work')).body).toBe('done /work');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(lines()).toEqual(['before shutdown, ready: false', 'work done', 'first hook', 'second hook']);
  });

  it('runs the remaining hooks after one has failed, and exits with 1', async () => {
    const { child, ended, lines } = await start('fails');
    child.kill('SIGTERM');
    expect(await ended).toBe(1);
    expect(lines()).toContain('healthcheck: onShutdown failed: Error: database is gone');
    expect(lines()).toContain('second hook');
  });

  it('exits with 1 at the deadline', async () => {
    const { child, ended, lines } = await start('hangs');
    child.kill('SIGTERM');
    expect(await ended).toBe(1);
    expect(lines().at(-1)).toBe('healthcheck: the shutdown took longer than 500 ms, waiting for beforeShutdown');
  });
});
