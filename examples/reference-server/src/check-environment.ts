import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { cloudsYamlPath } from './cloud/clouds-yaml-path.js';
import { checkDatabase, checkFolder } from './database-url.js';
import { listen } from './listen.js';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

const PORT_OPTIONS = ['port', 'metrics-port', 'console-port'] as const;
const FOLDER_OPTIONS = ['machine-dir', 'shared-dir', 'image-dir'] as const;

/** Checks that no two options select the same port. @throws StartError */
export function checkPorts(ports: Readonly<Record<string, number | undefined>>): void {
  const optionsByPort = new Map<number, string>();
  for (const [name, port] of Object.entries(ports)) {
    if (port === undefined || port === 0) continue;
    const otherOption = optionsByPort.get(port);
    if (otherOption !== undefined)
      throw new StartError(`--${otherOption} and --${name} are both ${port}: choose different ports`);
    optionsByPort.set(port, name);
  }
}

/** Checks that an address belongs to this computer, by listening on it briefly at a free port. @throws StartError */
async function checkAddress(host: string, prefix: string): Promise<void> {
  const server = createServer();
  await listen(server, host, 0, prefix);
  await new Promise((done) => server.close(done));
}

/**
 * Checks the ports, addresses and folders that the options name. Creates nothing. @throws StartError for the first
 * problem
 */
export async function checkEnvironment(options: Options): Promise<void> {
  checkPorts(Object.fromEntries(PORT_OPTIONS.map((name) => [name, options[name]])));
  await checkAddress(options.host, '');
  if (options['metrics-port'] !== undefined) await checkAddress(options['metrics-host'], 'metrics-');
  checkDatabase(options);
  for (const name of FOLDER_OPTIONS) {
    const folder = options[name];
    if (folder !== undefined && (name !== 'machine-dir' || options.driver === 'qemu')) checkFolder(name, folder);
  }
  const cloudsYamlFile = options.cloud ? cloudsYamlPath(options) : undefined;
  if (cloudsYamlFile !== undefined) checkFolder('clouds-yaml', dirname(cloudsYamlFile));
  const keyFile = options['secret-key-file'];
  if (keyFile !== undefined) checkFolder('secret-key-file', dirname(keyFile));
}
