import { type QemuHost, type QemuOptions, qemuHost } from '@apistrata/qemu';
import type { Logger } from 'pino';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

/** How virtual machines are run, and what this computer has for them. */
export interface RealMachines {
  readonly given: QemuOptions;
  readonly seed: QemuHost['seed'];
}

/**
 * Finds out whether and how this computer runs virtual machines, and says so in the log.
 * @throws StartError for options that cannot be, and QemuError where there is no QEMU
 */
export async function realMachines(options: Options, directory: string, log: Logger): Promise<RealMachines> {
  const asked: QemuOptions = {
    directory,
    ...(options['shared-dir'] !== undefined && { sharedDirectory: options['shared-dir'] }),
    acceleration: options.acceleration,
    networkMode: options['network-mode'],
    forward: options.forward,
    forwardAddress: options['forward-address'],
    log: (line) => log.info(line),
  };
  try {
    const { seed, acceleration, sentence } = await qemuHost(asked);
    log.info(sentence);
    return { given: { ...asked, acceleration }, seed };
  } catch (error) {
    if (error instanceof TypeError) throw new StartError(`--driver qemu: ${error.message}`);
    throw error;
  }
}
