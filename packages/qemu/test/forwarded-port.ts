import { connect, createServer } from 'node:net';

/** Ports that nobody listens on, one after the other. */
export async function freeRange(length: number): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port + length < 65_536 ? port : port - length;
}

/** What somebody who listens at a port of this computer says. */
export function told(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(10_000, () => socket.destroy(new Error('nobody says anything')));
    socket.on('data', (data) => {
      text += data;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(text.trim()));
  });
}
