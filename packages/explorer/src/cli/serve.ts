import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { explorer } from '../explorer.js';
import type { Command } from './command.js';
import { CommandError } from './command-error.js';
import { formatHostForUrl, restrictHostNames } from './local-names.js';
import { readPageOptions } from './page-options.js';

/** Runs the command `serve`, which serves the pages until the process is interrupted. */
export async function serve(command: Command): Promise<void> {
  const { host, port, allowedHosts } = command;
  const pages = explorer(await readPageOptions(command));
  const server = createServer(restrictHostNames(pages, host, allowedHosts));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new CommandError(`Port ${port} is in use: select another with --port, or a free one with --port 0`)
          : new CommandError(`Cannot listen on ${host}:${port}: ${error.message}`),
      );
    });
    server.listen(port, host, resolve);
  });
  const { port: selected } = server.address() as AddressInfo;
  process.stdout.write(`http://${formatHostForUrl(host)}:${selected}/\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
}
