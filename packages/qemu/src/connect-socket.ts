import { connect, type Socket } from 'node:net';

/** Connects to a Unix socket. */
export function connectSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket.off('error', reject)));
  });
}
