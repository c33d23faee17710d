import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Engine } from '@apistrata/compute-engine';
import express from 'express';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { createConsoleRouter } from './console-pages.js';

/** Maximum size of a message from a browser; pasted text is smaller. */
const MAX_MESSAGE_BYTES = 2 ** 20;
/** A browser that does not respond to a ping within this time is disconnected. */
const HEARTBEAT_MS = 30_000;
const MAX_CONNECTIONS = 500;

/** The subprotocol that clients of older noVNC versions request; other clients request none. */
const SUBPROTOCOL = 'binary';

/** Returns the token in the query string of a request; an empty string if it is missing. */
function tokenOf({ url = '' }: IncomingMessage): string {
  return new URL(url, 'http://console').searchParams.get('token') ?? '';
}

/**
 * Returns whether a request comes from one of the proxy's own pages, or from a program, which sends no origin. Pages of
 * other sites must not use the browser's credentials.
 * @param proxyUrl the proxy's URL as browsers see it, which may be the URL of a reverse proxy
 */
function isOwnOrigin({ headers: { origin, host } }: IncomingMessage, proxyUrl: string): boolean {
  if (origin === undefined) return true;
  return URL.canParse(origin) && [host, new URL(proxyUrl).host].includes(new URL(origin).host);
}

function rejectUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Pings a client, and disconnects it if it does not respond. */
function disconnectIfUnresponsive(client: WebSocket): void {
  let hasResponded = true;
  client.on('pong', () => {
    hasResponded = true;
  });
  const timer = setInterval(() => {
    if (!hasResponded) return client.terminate();
    hasResponded = false;
    client.ping();
  }, HEARTBEAT_MS);
  client.once('close', () => clearInterval(timer));
}

/** A proxy that connects browsers and programs to guest consoles. */
export interface ConsoleProxy {
  /** The HTTP server, which does not listen yet. */
  readonly server: Server;
  /** Closes the proxy and all open consoles. */
  readonly close: () => void;
}

/**
 * Creates a proxy for guest consoles. It serves the pages that console URLs open, and WebSockets that connect browsers
 * and programs to a screen (RFB) or a serial line. The engine checks each token, and rejects it after it has expired or
 * its server has been deleted.
 *
 * @param engine returns the engine. It is called per connection, because the engine needs the proxy's URL and is
 * therefore created after the proxy
 */
export function createConsoleProxy(
  engine: () => Pick<Engine, 'consoles' | 'settings'>,
  onError: (error: unknown) => void,
): ConsoleProxy {
  const pageApp = express();
  pageApp.disable('x-powered-by');
  pageApp.use(createConsoleRouter());
  const server = createServer(pageApp);
  server.maxConnections = MAX_CONNECTIONS;
  const webSocketServer = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => offered.has(SUBPROTOCOL) && SUBPROTOCOL,
  });

  async function relay(client: WebSocket, consoleStream: Duplex): Promise<void> {
    disconnectIfUnresponsive(client);
    const clientStream = createWebSocketStream(client);
    const pipes = [pipeline(clientStream, consoleStream), pipeline(consoleStream, clientStream)].map((direction) =>
      direction.catch(() => {}),
    );
    // When either side closes, the other is closed too; this is not an error.
    await Promise.race(pipes);
    consoleStream.destroy();
    client.close();
    await Promise.all(pipes);
  }

  async function openConsole(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (!isOwnOrigin(req, engine().settings.consoleProxyUrl)) return rejectUpgrade(socket, '403 Forbidden');
    const consoleStream = await engine()
      .consoles.connect(tokenOf(req))
      .catch((error) => {
        if ((error as { status?: number }).status !== 404) onError(error);
        rejectUpgrade(socket, (error as { status?: number }).status === 404 ? '401 Unauthorized' : '502 Bad Gateway');
        return undefined;
      });
    if (!consoleStream) return;
    if (socket.destroyed) return void consoleStream.destroy();
    consoleStream.once('error', () => consoleStream.destroy());
    webSocketServer.handleUpgrade(req, socket, head, (client) => void relay(client, consoleStream).catch(onError));
  }

  server.on('upgrade', (req, socket, head) => {
    socket.once('error', () => socket.destroy());
    openConsole(req, socket, head).catch((error) => {
      onError(error);
      socket.destroy();
    });
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
    // `closeAllConnections()` does not close upgraded connections.
    for (const client of webSocketServer.clients) client.terminate();
  };
  return { server, close };
}
