import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Notification } from '../src/events/index.js';

/** An HTTP server that receives events in tests. */
export interface WebhookReceiver {
  readonly url: string;
  close(): void;
}

/** Starts a server that receives events. @param response returns the status of the response */
export async function receiveEvents(
  response: (event: Notification, req: IncomingMessage, body: string) => number,
): Promise<WebhookReceiver> {
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => res.writeHead(response(JSON.parse(body), req, body)).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
