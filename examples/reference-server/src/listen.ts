import type { Server } from 'node:http';
import { StartError } from './start-error.js';

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: stop the other program, or choose another port with --port',
  EACCES: 'needs privileges that this user does not have: choose a port above 1023 with --port',
  EADDRNOTAVAIL: 'cannot be used: this computer does not have that address. Choose another one with --host',
  ENOTFOUND: 'cannot be used: the host name does not resolve. Choose an address with --host',
};

/** Listens and returns the URL. Errors name the options `--<prefix>host` and `--<prefix>port`. @throws StartError */
export function listen(server: Server, host: string, port: number, prefix = ''): Promise<string> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = LISTEN_ERRORS[error.code ?? ''] ?? `cannot be used: ${error.message}`;
      fail(new StartError(`port ${port} of ${host} ${reason.replace('--', `--${prefix}`)}`));
    });
    server.listen(port, host, () => {
      const { port: boundPort } = server.address() as { port: number };
      done(`http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`);
    });
  });
}

/** Returns the URL for clients on this computer, with the loopback address instead of a wildcard address. */
export function clientUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
