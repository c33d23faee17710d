import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** The lowest port to use. The range is below the ports that Linux assigns to outgoing connections. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/** Returns the first port of a range in which all ports are free. */
export async function freeRange(length: number): Promise<number> {
  for (;;) {
    const first = randomInt(LOWEST, HIGHEST);
    const free = await Promise.all(Array.from({ length }, (_, index) => isFree(first + index)));
    if (free.every(Boolean)) return first;
  }
}

/** Returns the data that a server sends to clients that connect to a port of this computer. */
export function dataFrom(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(10_000, () => socket.destroy(new Error('no data received')));
    socket.on('data', (data) => {
      text += data;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(text.trim()));
  });
}
