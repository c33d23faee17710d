import { createServer, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { type GuardedServer, type GuardLimits, guardServer } from '../src/server/index.js';
import { closing } from './serve.js';

interface Guarded {
  readonly port: number;
  readonly server: Server;
  readonly guarded: GuardedServer;
}

async function serveGuarded(listener: RequestListener, limits: GuardLimits = {}): Promise<Guarded> {
  const server = createServer({ connectionsCheckingInterval: 50 }, listener);
  const guarded = guardServer(server, limits);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.closeAllConnections());
  return { port: (server.address() as AddressInfo).port, server, guarded };
}

/** A client that writes what it is told and keeps what comes back. */
interface Client {
  readonly socket: Socket;
  received(): string;
  /** How the connection ended, once it has. */
  readonly ended: Promise<'closed' | 'reset'>;
}

function client(port: number, text: string): Client {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk;
  });
  onTestFinished(() => void socket.destroy());
  const ended = new Promise<'closed' | 'reset'>((resolve) => {
    socket.once('error', () => resolve('reset'));
    socket.once('close', () => resolve('closed'));
  });
  return { socket, received: () => received, ended };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`;
const answers = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe('requests of one connection', () => {
  it('are handled one after the other, in their order', async () => {
    let atOnce = 0;
    let most = 0;
    const { port } = await serveGuarded((req, res) => {
      most = Math.max(most, ++atOnce);
      setImmediate(() => {
        atOnce--;
        res.end(`[${req.url}]`);
      });
    });
    const { received } = client(port, Array.from({ length: 20 }, (_, i) => get(`/${i}`)).join(''));
    await eventually(() => expect(received()).toContain('[/19]'));
    const paths = [...received().matchAll(/\[\/(\d+)\]/g)].map(([, path]) => Number(path));
    expect(paths).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(most).toBe(1);
  });

  it('reach their handlers with their bodies, however they are cut up', async () => {
    const { port } = await serveGuarded(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      res.end(`[${body}]`);
    });
    const post = (body: string) => `POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const bodies = Array.from({ length: 30 }, (_, i) => String(i).repeat(5_000));
    const text = bodies.map(post).join('');
    const { socket, received } = client(port, '');
    for (let at = 0; at < text.length; at += 70_001) {
      socket.write(text.slice(at, at + 70_001));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await eventually(() => expect(answers(received())).toHaveLength(30));
    const got = [...received().matchAll(/\[(\d+)\]/g)].map(([, body]) => body);
    expect(got).toEqual(bodies);
  });

  it('are not read any more while many of them wait, and lose nothing by it', async () => {
    let handled = 0;
    const { port } = await serveGuarded(
      (_req, res) => {
        handled++;
        setTimeout(() => res.end('x'), 1);
      },
      { maxPipelined: 1_000 },
    );
    const { socket, received, ended } = client(port, '');
    void ended;
    const many = get(`/${'long'.repeat(100)}`).repeat(150);
    for (let round = 0; round < 10; round++) {
      socket.write(many);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await eventually(() => expect(answers(received())).toHaveLength(1_500));
    expect(handled).toBe(1_500);
  });

  it('are too many in one piece beyond the limit: the connection is closed', async () => {
    let handled = 0;
    const { port } = await serveGuarded(() => handled++, { maxPipelined: 5 });
    const { ended } = client(port, get('/').repeat(7));
    await ended;
    expect(handled).toBe(1);
  });
});

describe('a client that does not read', () => {
  const page = 'x'.repeat(8 * 1024 * 1024);

  /** Asks, and never looks at the answer. */
  function deaf(port: number, text: string): Client {
    const made = client(port, text);
    made.socket.pause();
    return made;
  }

  it('causes no second answer before it has taken the first', async () => {
    let handled = 0;
    const { port, guarded } = await serveGuarded((_req, res) => {
      handled++;
      res.end(page);
    });
    const { socket, received } = deaf(port, get('/').repeat(5));
    await eventually(() => expect(guarded.statistics().unreadBytes).toBeGreaterThan(0));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(handled).toBe(1);
    socket.resume();
    await eventually(() => expect(received().length).toBeGreaterThan(5 * page.length));
    expect(handled).toBe(5);
  });

  it('is closed after a while, while others are served', async () => {
    const { port, guarded } = await serveGuarded((_req, res) => res.end(page), { unreadMs: 300 });
    const slow = deaf(port, get('/'));
    await eventually(() => expect(guarded.statistics().stalled).toBe(1));
    expect(guarded.statistics().unreadBytes).toBe(0);
    const other = client(port, get('/'));
    await eventually(() => expect(other.received().length).toBeGreaterThan(page.length));
    slow.socket.resume();
    await slow.ended;
    expect(slow.received().length).toBeLessThan(page.length);
  });

  it('is closed sooner when all of them together hold too much', async () => {
    const { port, guarded } = await serveGuarded((_req, res) => res.end(page), { maxUnreadBytes: 16 * 1024 * 1024 });
    for (let i = 0; i < 6; i++) deaf(port, get('/'));
    await eventually(() => expect(guarded.statistics().stalled).toBeGreaterThan(0));
    expect(guarded.statistics().unreadBytes).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(guarded.statistics().connections).toBeGreaterThan(0);
  });

  it('is not meant by the limit when the server is the slow one', async () => {
    const { port } = await serveGuarded((_req, res) => void setTimeout(() => res.end('late'), 400), { unreadMs: 100 });
    const { received } = client(port, get('/'));
    await eventually(() => expect(received()).toContain('late'));
  });
});

describe('limits', () => {
  it('close a head that does not come to its end, and connections beyond the number', async () => {
    const { port, guarded } = await serveGuarded((_req, res) => res.end('ok'), { headersMs: 100, maxConnections: 2 });
    const slow = client(port, 'GET / HTTP/1.1\r\nHost:');
    const silent = client(port, '');
    await eventually(() => expect(guarded.statistics().connections).toBe(2));
    const third = client(port, get('/'));
    await third.ended;
    expect([third.received(), guarded.statistics().dropped]).toEqual(['', 1]);
    await Promise.all([slow.ended, silent.ended]);
    expect(slow.received()).toMatch(/^HTTP\/1\.1 408/);
  });

  it('keep an idle connection longer than a head may take, and end it when its time is over', async () => {
    const { port } = await serveGuarded((_req, res) => res.end('ok'), { headersMs: 100, keepAliveMs: 700 });
    const { socket, received, ended } = client(port, get('/'));
    await eventually(() => expect(answers(received())).toEqual([200]));
    await new Promise((resolve) => setTimeout(resolve, 400));
    socket.write(get('/'));
    await eventually(() => expect(answers(received())).toEqual([200, 200]));
    expect(await ended).toBe('closed');
  });

  it('outlive the 65 seconds of balancers by default, and can be changed while the server runs', async () => {
    const { server, guarded } = await serveGuarded((_req, res) => res.end('ok'));
    expect(server.keepAliveTimeout).toBeGreaterThan(65_000);
    expect([server.headersTimeout, server.requestTimeout]).toEqual([15_000, 60_000]);
    guarded.limit({ maxConnections: 7 });
    expect([server.maxConnections, server.headersTimeout]).toEqual([7, 15_000]);
  });

  it.each([
    [{ maxPipelind: 3 }, /maxPipelind.*Did you mean "maxPipelined"/],
    [{ unreadMs: 0 }, /unreadMs.*from 1/],
    [{ maxConnections: 1.5 }, /maxConnections/],
    [{ headersMs: 90_000 }, /headersMs.*requestMs/],
  ])('refuse %j', (limits, message) => {
    expect(() => guardServer(createServer(), limits as GuardLimits)).toThrow(message);
  });
});

describe('drain', () => {
  /** Answers after a few milliseconds. */
  const slowly: RequestListener = (req, res) => void setTimeout(() => res.end(`[${req.url}]`), 5);

  it('fails the health endpoint, says goodbye in every answer, and goes on listening until the delay is over', async () => {
    const health = closing({ groups: { ready: { backends: [] } } });
    const { port, guarded } = await serveGuarded((req, res) => health(req, res, () => slowly(req, res)));
    const idle = client(port, get('/'));
    await eventually(() => expect(idle.received()).toContain('[/]'));
    expect(idle.received()).toMatch(/connection: keep-alive/i);
    let over = false;
    const drained = guarded.drain({ health, delayMs: 400, quietMs: 20 }).then(() => {
      over = true;
    });
    const fresh = client(port, get('/readyz'));
    await eventually(() => expect(fresh.received()).toMatch(/^HTTP\/1\.1 503[\s\S]*connection: close/i));
    expect(await fresh.ended).toBe('closed');
    idle.socket.write(get('/again'));
    await eventually(() => expect(idle.received()).toContain('[/again]'));
    expect(idle.received()).toMatch(/connection: close/i);
    expect(over).toBe(false);
    await drained;
    const late = client(port, get('/'));
    expect(await late.ended).toBe('reset');
    await guarded.drain();
  });

  it('answers all that was sent before, piece by piece or in one, and resets nobody', async () => {
    for (let round = 0; round < 5; round++) {
      const { port, guarded } = await serveGuarded(slowly);
      const clients = Array.from({ length: 20 }, () => client(port, ''));
      await eventually(() => expect(guarded.statistics().connections).toBe(20));
      for (const [i, { socket }] of clients.entries()) socket.write(get('/').repeat(1 + (i % 4)));
      await new Promise((resolve) => setTimeout(resolve, round));
      for (const { socket } of clients) socket.write(get('/more').repeat(3));
      await new Promise((resolve) => setTimeout(resolve, round * 3));
      await guarded.drain({ delayMs: 0, quietMs: 50 });
      expect(await Promise.all(clients.map(({ ended }) => ended))).toEqual(clients.map(() => 'closed'));
      expect(clients.map(({ received }) => answers(received()).length)).toEqual(clients.map((_, i) => 1 + (i % 4) + 3));
    }
  });

  it('ends under clients that never pause, each of whose answered requests is answered whole', async () => {
    const { port, guarded } = await serveGuarded(slowly);
    const clients = Array.from({ length: 10 }, () => {
      const made = client(port, get('/').repeat(5));
      made.socket.on('data', (chunk: string) => {
        if (made.socket.writable) made.socket.write(get('/').repeat(answers(chunk).length));
      });
      return made;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await guarded.drain({ delayMs: 100, graceMs: 5_000 });
    expect(await Promise.all(clients.map(({ ended }) => ended))).toEqual(clients.map(() => 'closed'));
    for (const { received } of clients) {
      expect(received()).toMatch(/\[\/\]$/);
      expect(received().match(/connection: close/gi)).toHaveLength(1);
      expect(received().slice(received().search(/connection: close/i))).toMatch(/^connection: close[^[]*\[\/\]$/i);
    }
  });

  it('is bounded: what takes for ever is cut', async () => {
    const { port, guarded } = await serveGuarded(() => undefined);
    const { ended } = client(port, get('/'));
    await eventually(() => expect(guarded.statistics().busy).toBe(1));
    await guarded.drain({ delayMs: 0, graceMs: 100 });
    await ended;
  });

  it('lets an upload come to its end', async () => {
    const { port, guarded } = await serveGuarded((req, res) => {
      let bytes = 0;
      req.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      req.on('end', () => res.end(String(bytes)));
    });
    const answered = new Promise<string>((resolve, reject) => {
      const sent = request({ port, method: 'POST', path: '/' }, (res) => {
        res.setEncoding('utf8').on('data', resolve);
      });
      sent.once('error', reject);
      sent.write('x'.repeat(1000));
      setTimeout(() => sent.end('y'.repeat(1000)), 200);
    });
    await eventually(() => expect(guarded.statistics().busy).toBe(1));
    await guarded.drain({ delayMs: 0, quietMs: 10 });
    expect(await answered).toBe('2000');
  });

  it('refuses what it does not know', async () => {
    const { guarded } = await serveGuarded(slowly);
    expect(() => guarded.drain({ delay: 1 } as never)).toThrow(/delayMs/);
  });
});
