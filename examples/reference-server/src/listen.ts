import type { Server } from 'node:http';
import { StartError } from './start-error.js';

const LISTEN_TROUBLE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken: end the other program, or choose another one with --port',
  EACCES: 'needs rights that this user does not have: choose one above 1023 with --port',
  EADDRNOTAVAIL: 'cannot be used, for this machine does not have that address: choose one with --host',
  ENOTFOUND: 'cannot be used, for nobody knows that host: give an address with --host',
};

/** Listens, and tells the address. The names of the options that say where begin with `prefix`. */
export function listen(server: Server, host: string, port: number, prefix = ''): Promise<string> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = LISTEN_TROUBLE[error.code ?? ''] ?? `cannot be used: ${error.message}`;
      fail(new StartError(`port ${port} of ${host} ${why.replace('--', `--${prefix}`)}`));
    });
    server.listen(port, host, () => {
      const { port: taken } = server.address() as { port: number };
      done(`http://${host.includes(':') ? `[${host}]` : host}:${taken}`);
    });
  });
}
