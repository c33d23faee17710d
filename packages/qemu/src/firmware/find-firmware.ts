import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The directories in which distributions install firmware descriptors. A file in an earlier directory takes precedence
 * over files of the same name in later ones.
 */
const DESCRIPTOR_FOLDERS = ['/etc/qemu/firmware', '/usr/local/share/qemu/firmware', '/usr/share/qemu/firmware'];

/** The part of QEMU's firmware descriptors (`docs/interop/firmware.json`) that selects a UEFI image in flash memory. */
interface FirmwareDescriptor {
  readonly 'interface-types'?: readonly string[];
  readonly mapping?: {
    readonly device?: string;
    readonly executable?: { readonly filename: string; readonly format: FirmwareFile['format'] };
    readonly 'nvram-template'?: { readonly filename: string; readonly format: FirmwareFile['format'] };
  };
  readonly targets?: readonly { readonly architecture?: string; readonly machines?: readonly string[] }[];
  readonly features?: readonly string[];
}

/** A file that contains firmware code or UEFI variables. */
export interface FirmwareFile {
  readonly file: string;
  readonly format: 'raw' | 'qcow2';
}

/** A UEFI firmware that is installed on this host. */
export interface Firmware {
  readonly code: FirmwareFile;
  /** The template for each machine's variable store. */
  readonly variables: FirmwareFile;
  /** Whether the firmware requires system management mode (SMM), which protects the variable store. */
  readonly needsSmm: boolean;
}

/** The properties that a machine requires of its firmware. */
export interface FirmwareRequirements {
  /** The common prefix of the versioned machine types: `pc-i440fx` or `pc-q35`. */
  readonly machineFamily: string;
  readonly secureBoot: boolean;
}

async function findDescriptors(folders: readonly string[]): Promise<readonly string[]> {
  const pathsByName = new Map<string, string>();
  for (const folder of folders)
    for (const name of await readdir(folder).catch(() => []))
      if (name.endsWith('.json') && !pathsByName.has(name)) pathsByName.set(name, join(folder, name));
  return [...pathsByName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
}

/** Reads a firmware descriptor. Returns undefined if the file is unreadable or is not JSON. */
async function readDescriptor(path: string): Promise<FirmwareDescriptor | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as FirmwareDescriptor;
  } catch {
    return undefined;
  }
}

function meetsRequirements(
  { targets = [], features = [] }: FirmwareDescriptor,
  { machineFamily, secureBoot }: FirmwareRequirements,
): boolean {
  const supportsMachine = targets.some(
    ({ architecture, machines = [] }) =>
      architecture === 'x86_64' && machines.some((pattern) => pattern.startsWith(machineFamily)),
  );
  // Without enrolled keys, secure boot verifies nothing.
  return (
    supportsMachine && ['secure-boot', 'enrolled-keys'].every((feature) => features.includes(feature) === secureBoot)
  );
}

/** Returns the first installed UEFI firmware, in order of descriptor names, that meets the requirements. */
export async function findFirmware(
  requirements: FirmwareRequirements,
  folders: readonly string[] = DESCRIPTOR_FOLDERS,
): Promise<Firmware | undefined> {
  for (const path of await findDescriptors(folders)) {
    const descriptor = await readDescriptor(path);
    if (!descriptor?.['interface-types']?.includes('uefi') || !meetsRequirements(descriptor, requirements)) continue;
    const { device, executable, 'nvram-template': template } = descriptor.mapping ?? {};
    if (device !== 'flash' || !executable || !template) continue;
    if (!existsSync(executable.filename) || !existsSync(template.filename)) continue;
    return {
      code: { file: executable.filename, format: executable.format },
      variables: { file: template.filename, format: template.format },
      needsSmm: descriptor.features?.includes('requires-smm') ?? false,
    };
  }
  return undefined;
}
