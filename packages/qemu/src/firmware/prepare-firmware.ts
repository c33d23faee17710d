import { constants, copyFile, rename } from 'node:fs/promises';
import type { MachineFolder } from '../machine/machine-folder.js';
import { QemuError } from '../qemu-error.js';
import { isQ35, type Tuning } from '../tuning/tuning.js';
import { type Firmware, findFirmware } from './find-firmware.js';

async function firmwareFor({ machineType, secureBoot }: Tuning): Promise<Firmware> {
  const machineFamily = isQ35(machineType) ? 'pc-q35' : 'pc-i440fx';
  if (secureBoot !== 'disabled') {
    const found = await findFirmware({ machineFamily, secureBoot: true });
    if (found) return found;
    if (secureBoot === 'required')
      throw new QemuError(
        'UNSUPPORTED',
        machineFamily === 'pc-q35'
          ? 'secure boot is required, but this host has no UEFI firmware with enrolled keys: install the package ovmf'
          : 'secure boot is required, but works only with hw_machine_type=q35: set this image property',
      );
  }
  const found = await findFirmware({ machineFamily, secureBoot: false });
  if (found) return found;
  throw new QemuError(
    'UNSUPPORTED',
    'the image needs UEFI (hw_firmware_type=uefi): install the package ovmf on this host',
  );
}

/**
 * Returns a machine's UEFI firmware, with the variable store in the machine's folder; null if the machine has a BIOS.
 * Keeps an existing variable store, because it contains the guest's boot entries.
 *
 * @throws QemuError `UNSUPPORTED` if the required firmware is not installed on this host
 */
export async function prepareFirmware(folder: MachineFolder, tuning: Tuning): Promise<Firmware | null> {
  if (tuning.firmware === 'bios') return null;
  const firmware = await firmwareFor(tuning);
  const file = folder.file('firmwareVariables');
  if (!(await folder.exists('firmwareVariables'))) {
    await copyFile(firmware.variables.file, `${file}.new`, constants.COPYFILE_FICLONE);
    await folder.changeOwner(`${file}.new`);
    await rename(`${file}.new`, file);
  }
  return { ...firmware, variables: { ...firmware.variables, file } };
}
