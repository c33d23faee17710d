import { defaultPreset, type EngineOptions, type Preset } from '@apistrata/compute-engine';
import { noMachines, SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { qemuDriver } from '@apistrata/qemu';
import type { Logger } from 'pino';
import { imageSeed } from './image-seed.js';
import type { Plan } from './plan.js';
import { detectRealMachines } from './real-machines.js';
import { StartError } from './start-error.js';

/** Returns a preset with the images that `--image` adds. */
function addImages(preset: Preset, files: readonly string[]): Preset {
  return { ...preset, images: [...(preset.images ?? []), ...files.map(imageSeed)] };
}

/**
 * Returns the initial resources for virtual machines. The default host is this computer. The images of the default
 * preset are omitted, because they have no content.
 */
function presetForQemu(preset: Preset | undefined, host: NonNullable<Preset['hosts']>[number]): Preset {
  if (preset) return { ...preset, hosts: preset.hosts ?? [host] };
  const nanoFlavor = { id: '0', name: 'm1.nano', vcpus: 1, memoryMb: 192, diskGb: 1 };
  const { flavors = [] } = defaultPreset;
  return { ...defaultPreset, flavors: [nanoFlavor, ...flavors], hosts: [host], images: [] };
}

/**
 * Returns the driver and the initial resources, as determined by `--driver`, `--preset` and `--image`.
 * @throws StartError; QemuError if QEMU is not installed
 */
export async function machinesFrom(
  { options, preset, catalogs }: Plan,
  log: Logger,
): Promise<Pick<EngineOptions, 'preset' | 'driver'>> {
  if (options.image.length > 0 && catalogs.images)
    throw new StartError('--image needs the built-in image service: it cannot be combined with --image-url');
  if (options.driver === 'none') {
    const presetWithoutHosts = { ...(preset ?? defaultPreset), hosts: [] };
    return { preset: addImages(presetWithoutHosts, options.image), driver: noMachines() };
  }
  if (options.driver === 'simulated') {
    return {
      preset: options.image.length > 0 ? addImages(preset ?? defaultPreset, options.image) : preset,
      driver: (clock) => new SimulatedDriver({ clock, latencyMs: options['latency-ms'], rules: preset?.rules }),
    };
  }
  const { qemuOptions, seed } = await detectRealMachines(options, options['machine-dir'], log);
  return { preset: addImages(presetForQemu(preset, seed), options.image), driver: qemuDriver(qemuOptions) };
}
