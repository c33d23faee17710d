import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { type Program, sendRequest, startProgram } from '../program.js';

const REQUEST = 'GET /v2.1/flavors/detail HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: ada:demo\r\n\r\n';

/** A connection under constant load, with a fixed number of requests in flight. */
interface Load {
  /** The number of requests and the number of complete responses. */
  readonly counts: () => { readonly sent: number; readonly answered: number };
  /** Resolves with how the connection ended. */
  readonly ended: Promise<'closed' | 'reset'>;
}

function load(port: number, pipelined: number): Load {
  const socket = connect(port, '127.0.0.1');
  let sent = 0;
  let responded = 0;
  let isClosing = false;
  let buffer = '';
  const send = (count: number) => {
    sent += count;
    socket.write(REQUEST.repeat(count));
  };
  onTestFinished(() => void socket.destroy());
  socket.on('connect', () => send(pipelined));
  socket.setEncoding('latin1').on('data', (chunk) => {
    buffer += chunk;
    let complete = 0;
    for (;;) {
      const head = buffer.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(buffer.slice(0, head));
      const end = head + 4 + Number(length?.[1]);
      if (head < 0 || !length || buffer.length < end) break;
      isClosing ||= /connection: close/i.test(buffer.slice(0, head));
      buffer = buffer.slice(end);
      complete++;
    }
    responded += complete;
    if (complete > 0 && !isClosing && socket.writable) send(complete);
  });
  const ended = new Promise<'closed' | 'reset'>((resolve) => {
    socket.once('error', () => resolve('reset'));
    socket.once('close', () => resolve('closed'));
  });
  return { counts: () => ({ sent, answered: responded }), ended };
}

const portOf = (program: Program) => Number(new URL(program.url).port);

async function start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Program> {
  const program = await startProgram(['--db', ':memory:', '--log-level', 'warn', ...args], environment);
  onTestFinished(async () => void (await program.end('SIGKILL')));
  return program;
}

/** Opens several connections under load, and waits until each has received some responses. */
async function connectUnderLoad(program: Program, connections: number, pipelined: number): Promise<readonly Load[]> {
  const loads = Array.from({ length: connections }, () => load(portOf(program), pipelined));
  const min = () => Math.min(...loads.map(({ counts }) => counts().answered));
  await eventually(() => expect(min()).toBeGreaterThan(2 * pipelined));
  return loads;
}

describe('SIGTERM under load', () => {
  it.each([
    { pipelined: 1, drainMs: 0 },
    { pipelined: 1, drainMs: 300 },
    { pipelined: 5, drainMs: 0 },
    { pipelined: 5, drainMs: 300 },
  ])(
    'serves every request that was sent before it ($pipelined in flight per connection, $drainMs ms drain time)',
    async ({ pipelined, drainMs }) => {
      for (let round = 0; round < 2; round++) {
        const program = await start(['--drain-ms', String(drainMs)]);
        const loads = await connectUnderLoad(program, 16, pipelined);
        const before = loads.map(({ counts }) => counts().sent);
        const code = program.end('SIGTERM');
        expect(await Promise.all(loads.map(({ ended }) => ended))).toEqual(loads.map(() => 'closed'));
        for (const [index, { counts }] of loads.entries())
          expect(counts().answered).toBeGreaterThanOrEqual(before[index]!);
        expect(await code).toBe(0);
      }
    },
  );

  it('fails readiness immediately, closes the connection after each response, and exits immediately on a second signal', async () => {
    const program = await start(['--drain-ms', '3600000']);
    expect((await sendRequest(program.url, 'GET', '/readyz')).status).toBe(200);
    const code = program.end('SIGINT');
    await eventually(async () => expect((await sendRequest(program.url, 'GET', '/readyz')).status).toBe(503));
    expect((await sendRequest(program.url, 'GET', '/healthcheck')).status).toBe(503);
    expect((await sendRequest(program.url, 'GET', '/livez')).status).toBe(200);
    const served = await sendRequest(program.url, 'GET', '/v2.1/flavors');
    expect([served.status, served.headers.get('connection')]).toEqual([200, 'close']);
    expect(await program.end('SIGTERM')).toBe(143);
    expect(await code).toBe(143);
  });
});

describe('an uncaught error', () => {
  /** Causes an uncaught error in the program on a signal, as a bug would. */
  const breaking = (what: string) => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${what} })`)}`,
  });

  it.each([
    ['an unhandled rejection', "Promise.reject(new Error('not awaited'))", /not awaited/],
    ['an error outside of every request', "setTimeout(() => { throw new Error('from nowhere') })", /from nowhere/],
  ])('(%s) is logged, and ends the program gracefully with the exit code 1', async (_title, what, message) => {
    const program = await start([], breaking(what));
    const loads = await connectUnderLoad(program, 4, 1);
    expect(await program.end('SIGUSR2')).toBe(1);
    expect(program.output()).toMatch(message);
    expect(await Promise.all(loads.map(({ ended }) => ended))).toEqual(loads.map(() => 'closed'));
    for (const { counts } of loads) expect(counts().answered).toBe(counts().sent);
  });
});
