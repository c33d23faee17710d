import { type QemuHost, type QemuOptions, qemuHost } from '@apistrata/qemu';
import type { Logger } from 'pino';
import type { Options } from './options.js';
import { StartError } from './start-error.js';

/** The options for the QEMU driver, and this computer's capacity as a host. */
export interface RealMachines {
  readonly qemuOptions: QemuOptions;
  readonly seed: QemuHost['seed'];
}

/**
 * Determines whether and how this computer runs virtual machines, and logs the result.
 * @throws StartError for invalid options; QemuError if QEMU is not installed
 */
export async function detectRealMachines(options: Options, directory: string, log: Logger): Promise<RealMachines> {
  const qemuOptions: QemuOptions = {
    directory,
    ...(options['shared-dir'] !== undefined && { sharedDirectory: options['shared-dir'] }),
    ...(options['volume-pool'] !== undefined && { volumePool: options['volume-pool'] }),
    imageCacheGib: options['image-cache-gib'],
    acceleration: options.acceleration,
    cpuMode: options['cpu-mode'],
    ...(options['cpu-model'] !== undefined && { cpuModel: options['cpu-model'] }),
    cpuFeatures: options['cpu-feature'],
    networkMode: options['network-mode'],
    providerNetworks: options['provider-network'] as Readonly<Record<string, string>>,
    vhostNet: !options['no-vhost-net'],
    forward: options.forward,
    forwardAddress: options['forward-address'],
    log: (line) => log.info(line),
  };
  try {
    const { seed, acceleration, summary } = await qemuHost(qemuOptions);
    log.info(summary);
    return { qemuOptions: { ...qemuOptions, acceleration }, seed };
  } catch (error) {
    if (error instanceof TypeError) throw new StartError(`--driver qemu: ${error.message}`);
    throw error;
  }
}
