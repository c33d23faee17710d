import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Engine } from '@apistrata/compute-engine';
import express from 'express';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { screenPage } from './screen-page.js';

/** What a browser may send at once; pasted text is less. */
const MAX_MESSAGE_BYTES = 2 ** 20;
/** A browser that does not answer for so long has gone. */
const HEARTBEAT_MS = 30_000;
const MAX_CONNECTIONS = 500;

/** What clients of noVNC's line ask for; the others ask for nothing. */
const SUBPROTOCOL = 'binary';

/** The token of a request: consoles have it in the query, where noVNC puts it also without a name of its own. */
function tokenOf({ url = '' }: IncomingMessage): string {
  return new URL(url, 'http://console').searchParams.get('token') ?? '';
}

/**
 * Pages of other sites may not open consoles with what the user's browser knows. Programs say no origin.
 * @param proxyUrl what browsers call the proxy, which may be behind another one
 */
function isOwnOrigin({ headers: { origin, host } }: IncomingMessage, proxyUrl: string): boolean {
  if (origin === undefined) return true;
  return URL.canParse(origin) && [host, new URL(proxyUrl).host].includes(new URL(origin).host);
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Pings, and ends a connection whose other end has gone without a word. */
function watch(client: WebSocket): void {
  let answered = true;
  client.on('pong', () => {
    answered = true;
  });
  const beat = setInterval(() => {
    if (!answered) return client.terminate();
    answered = false;
    client.ping();
  }, HEARTBEAT_MS);
  client.once('close', () => clearInterval(beat));
}

/** A proxy of consoles. */
export interface ConsoleProxy {
  /** To be told where to listen. */
  readonly server: Server;
  /** Ends it, with all consoles that are open. */
  readonly close: () => void;
}

/**
 * Consoles of guests for browsers and programs: the pages that the API's addresses of consoles lead to, and behind them
 * WebSockets that carry the bytes of a screen (RFB) or of a serial line. What a token leads to is asked of the engine, so
 * tokens end when they expire or their server is gone.
 *
 * @param engine asked when somebody comes: the proxy has to listen before there is one, for its address is a setting
 */
export function consoleProxy(
  engine: () => Pick<Engine, 'consoles' | 'settings'>,
  onError: (error: unknown) => void,
): ConsoleProxy {
  const pages = express();
  pages.disable('x-powered-by');
  pages.use(screenPage());
  const server = createServer(pages);
  server.maxConnections = MAX_CONNECTIONS;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
  });

  async function carry(client: WebSocket, console: Duplex): Promise<void> {
    watch(client);
    const stream = createWebSocketStream(client);
    const ways = [pipeline(stream, console), pipeline(console, stream)].map((way) => way.catch(() => {}));
    // Whoever ends first ends the other; that is no trouble.
    await Promise.race(ways);
    console.destroy();
    client.close();
    await Promise.all(ways);
  }

  async function open(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (!isOwnOrigin(req, engine().settings.consoleProxyUrl)) return refuse(socket, '403 Forbidden');
    const console = await engine()
      .consoles.connect(tokenOf(req))
      .catch((error) => {
        if ((error as { status?: number }).status !== 404) onError(error);
        refuse(socket, (error as { status?: number }).status === 404 ? '401 Unauthorized' : '502 Bad Gateway');
        return undefined;
      });
    if (!console) return;
    if (socket.destroyed) return void console.destroy();
    console.once('error', () => console.destroy());
    sockets.handleUpgrade(req, socket, head, (client) => void carry(client, console).catch(onError));
  }

  server.on('upgrade', (req, socket, head) => {
    socket.once('error', () => socket.destroy());
    open(req, socket, head).catch((error) => {
      onError(error);
      socket.destroy();
    });
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
    // What was upgraded is no connection of the server any more.
    for (const client of sockets.clients) client.terminate();
  };
  return { server, close };
}
