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

/** A client that writes raw data and stores the responses. */
interface Client {
  readonly socket: Socket;
  received(): string;
  /** How the connection ended; undefined while it is open. */
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
const statuses = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

describe('requests of one connection', () => {
  it('are handled sequentially, in their order', async () => {
    let atOnce = 0;
    let max = 0;
    const { port } = await serveGuarded((req, res) => {
      max = Math.max(max, ++atOnce);
      setImmediate(() => {
        atOnce--;
        res.end(`[${req.url}]`);
      });
    });
    const { received } = client(port, Array.from({ length: 20 }, (_, i) => get(`/${i}`)).join(''));
    await eventually(() => expect(received()).toContain('[/19]'));
    const paths = [...received().matchAll(/\[\/(\d+)\]/g)].map(([, path]) => Number(path));
    expect(paths).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(max).toBe(1);
  });

  it('reach their handlers with their bodies, regardless of how they are split into chunks', async () => {
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
    await eventually(() => expect(statuses(received())).toHaveLength(30));
    const got = [...received().matchAll(/\[(\d+)\]/g)].map(([, body]) => body);
    expect(got).toEqual(bodies);
  });

  it('are not read while many of them wait, and none is lost', async () => {
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
    await eventually(() => expect(statuses(received())).toHaveLength(1_500));
    expect(handled).toBe(1_500);
  });

  it('close the connection if one chunk contains too many of them', async () => {
    let handled = 0;
    const { port } = await serveGuarded(() => handled++, { maxPipelined: 5 });
    const { ended } = client(port, get('/').repeat(7));
    await ended;
    expect(handled).toBe(1);
  });
});

describe('a client that does not read', () => {
  const page = 'x'.repeat(8 * 1024 * 1024);

  /** Sends requests, and never reads the responses. */
  function nonReadingClient(port: number, text: string): Client {
    const responses = client(port, text);
    responses.socket.pause();
    return responses;
  }

  it('causes no second response before it has read the first', async () => {
    let handled = 0;
    const { port, guarded } = await serveGuarded((_req, res) => {
      handled++;
      res.end(page);
    });
    const { socket, received } = nonReadingClient(port, get('/').repeat(5));
    await eventually(() => expect(guarded.statistics().unreadBytes).toBeGreaterThan(0));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(handled).toBe(1);
    socket.resume();
    await eventually(() => expect(received().length).toBeGreaterThan(5 * page.length));
    expect(handled).toBe(5);
  });

  it('is disconnected after a timeout, while others are served', async () => {
    const { port, guarded } = await serveGuarded((_req, res) => res.end(page), { unreadMs: 300 });
    const slow = nonReadingClient(port, get('/'));
    await eventually(() => expect(guarded.statistics()).toMatchObject({ stalled: 1, unreadBytes: 0 }));
    const other = client(port, get('/'));
    await eventually(() => expect(other.received().length).toBeGreaterThan(page.length));
    slow.socket.resume();
    await slow.ended;
    expect(slow.received().length).toBeLessThan(page.length);
  });

  it('is disconnected earlier if the unread responses of all clients exceed a limit', async () => {
    const { port, guarded } = await serveGuarded((_req, res) => res.end(page), { maxUnreadBytes: 16 * 1024 * 1024 });
    for (let i = 0; i < 6; i++) nonReadingClient(port, get('/'));
    // Responses that started later are counted only from the next check on.
    await eventually(() => {
      const { stalled, unreadBytes, connections } = guarded.statistics();
      expect([stalled > 0, unreadBytes <= 16 * 1024 * 1024, connections > 0]).toEqual([true, true, true]);
    });
  });

  it('is not disconnected if the server is the slow side', async () => {
    const { port } = await serveGuarded((_req, res) => void setTimeout(() => res.end('late'), 400), { unreadMs: 100 });
    const { received } = client(port, get('/'));
    await eventually(() => expect(received()).toContain('late'));
  });
});

describe('limits', () => {
  it('close connections with an incomplete request head, and connections above the maximum number', async () => {
    const { port, guarded } = await serveGuarded((_req, res) => res.end('ok'), { maxConnections: 2 });
    const slow = client(port, 'GET / HTTP/1.1\r\nHost:');
    const silent = client(port, '');
    await eventually(() => expect(guarded.statistics().connections).toBe(2));
    const third = client(port, get('/'));
    await third.ended;
    expect([third.received(), guarded.statistics().dropped]).toEqual(['', 1]);
    guarded.limit({ headersMs: 100 });
    await Promise.all([slow.ended, silent.ended]);
    expect(slow.received()).toMatch(/^HTTP\/1\.1 408/);
  });

  it('keep an idle connection longer than a request head may take, and close it at its timeout', async () => {
    const { port } = await serveGuarded((_req, res) => res.end('ok'), { headersMs: 100, keepAliveMs: 700 });
    const { socket, received, ended } = client(port, get('/'));
    await eventually(() => expect(statuses(received())).toEqual([200]));
    await new Promise((resolve) => setTimeout(resolve, 400));
    socket.write(get('/'));
    await eventually(() => expect(statuses(received())).toEqual([200, 200]));
    expect(await ended).toBe('closed');
  });

  it('exceed the 65 seconds of load balancers by default, and can be changed while the server runs', async () => {
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
  ])('reject %j', (limits, message) => {
    expect(() => guardServer(createServer(), limits as GuardLimits)).toThrow(message);
  });
});

describe('drain', () => {
  /** Responds after a few milliseconds. */
  const slowly: RequestListener = (req, res) => void setTimeout(() => res.end(`[${req.url}]`), 5);

  it('fails the health endpoint, closes the connection with every response, and continues listening until the delay ends', async () => {
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
    expect(await client(port, get('/')).ended).toBe('reset');
    await guarded.drain();
  });

  it('responds to all requests that were sent before it, in one chunk or several, and resets no connection', async () => {
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
      const counts = clients.map(({ received }) => statuses(received()).length);
      expect(counts).toEqual(clients.map((_, i) => 4 + (i % 4)));
    }
  });

  it('completes under continuous load, and completes every accepted request', async () => {
    const { port, guarded } = await serveGuarded(slowly);
    const clients = Array.from({ length: 10 }, () => {
      const responses = client(port, get('/').repeat(5));
      responses.socket.on('data', (chunk: string) => {
        if (responses.socket.writable) responses.socket.write(get('/').repeat(statuses(chunk).length));
      });
      return responses;
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

  it('is bounded: connections are closed at the deadline', async () => {
    const { port, guarded } = await serveGuarded(() => undefined);
    const { ended } = client(port, get('/'));
    await eventually(() => expect(guarded.statistics().busy).toBe(1));
    await guarded.drain({ delayMs: 0, graceMs: 100 });
    await ended;
  });

  it('lets an upload complete', async () => {
    const { port, guarded } = await serveGuarded((req, res) => {
      let bytes = 0;
      req.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      req.on('end', () => res.end(String(bytes)));
    });
    const responded = new Promise<string>((resolve, reject) => {
      const sent = request({ port, method: 'POST', path: '/' }, (res) => res.setEncoding('utf8').on('data', resolve));
      sent.once('error', reject);
      sent.write('x'.repeat(1000));
      setTimeout(() => sent.end('y'.repeat(1000)), 200);
    });
    await eventually(() => expect(guarded.statistics().busy).toBe(1));
    await guarded.drain({ delayMs: 0, quietMs: 10 });
    expect(await responded).toBe('2000');
  });

  it('rejects unknown options', async () => {
    const { guarded } = await serveGuarded(slowly);
    expect(() => guarded.drain({ delay: 1 } as never)).toThrow(/delayMs/);
  });
});
