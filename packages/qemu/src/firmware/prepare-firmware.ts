import { constants, copyFile, rename } from 'node:fs/promises';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';
import { isQ35, type Tuning } from '../tuning/tuning.js';
import { type Firmware, findFirmware } from './find-firmware.js';

async function findRequiredFirmware(
  { machineType, secureBoot }: Tuning,
  folders: readonly string[] | undefined,
): Promise<Firmware> {
  const machineFamily = isQ35(machineType) ? 'pc-q35' : 'pc-i440fx';
  if (secureBoot !== 'disabled') {
    const installedFirmware = await findFirmware({ machineFamily, secureBoot: true }, folders);
    if (installedFirmware) return installedFirmware;
    if (secureBoot === 'required')
      throw new QemuError(
        'UNSUPPORTED',
        machineFamily === 'pc-q35'
          ? 'secure boot is required, but this host has no UEFI firmware with enrolled keys: install the package ovmf'
          : 'secure boot is required, but works only with hw_machine_type=q35: set this image property',
      );
  }
  const installedFirmware = await findFirmware({ machineFamily, secureBoot: false }, folders);
  if (installedFirmware) return installedFirmware;
  throw new QemuError(
    'UNSUPPORTED',
    'the image needs UEFI (hw_firmware_type=uefi): install the package ovmf on this host',
  );
}

/**
 * Returns a machine's UEFI firmware, with the variable store in the machine's folder; null if the machine has a BIOS.
 * Keeps an existing variable store, because it contains the guest's boot entries.
 *
 * @param folders the directories that contain firmware descriptors. Default: those that distributions use
 * @throws QemuError `UNSUPPORTED` if the required firmware is not installed on this host
 */
export async function prepareFirmware(
  folder: MachineFolder,
  tuning: Tuning,
  folders?: readonly string[],
): Promise<Firmware | null> {
  if (tuning.firmware === 'bios') return null;
  const firmware = await findRequiredFirmware(tuning, folders);
  const variableStore = folder.file('firmwareVariables');
  if (!(await folder.exists('firmwareVariables'))) {
    await copyFile(firmware.variables.file, `${variableStore}.new`, constants.COPYFILE_FICLONE);
    await folder.changeOwner(`${variableStore}.new`);
    await rename(`${variableStore}.new`, variableStore);
  }
  return { ...firmware, variables: { ...firmware.variables, file: variableStore } };
}
