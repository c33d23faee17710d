import { connect, createServer } from 'node:net';

/** Returns the first of a range of free ports. */
export async function freeRange(length: number): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port + length < 65_536 ? port : port - length;
}

/** Returns the data that a server at a port of this computer sends. */
export function notified(port: number): Promise<string> {
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
