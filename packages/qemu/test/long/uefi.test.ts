import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { buildUefiDisk, missingForSignedLoaders, missingForUefi } from '../guest/boot-disk.js';
import { ada, QemuCloud } from '../qemu-cloud.js';

const missing = missingForUefi();
if (missing) console.warn(`\n*** SKIPPED: machines with UEFI firmware: this machine has no ${missing} ***\n`);
const missingSigned = missing ?? missingForSignedLoaders();
if (missingSigned && !missing)
  console.warn(`\n*** SKIPPED: signed boot loaders with secure boot: this machine has no ${missingSigned} ***\n`);

const CONDITION_TIMEOUT_MS = 300_000;
const PATIENT = { timeout: CONDITION_TIMEOUT_MS };
const BOOTED = /LOADER begins[\s\S]*GUEST ready/;
const VARIABLES = '/sys/firmware/efi/efivars';
const MOUNT_VARIABLES = `mount -t efivarfs efivarfs ${VARIABLES}`;
/** A variable of the guest, whose name contains the GUID of its vendor. */
const VARIABLE = `${VARIABLES}/Note-a3c9f0c2-5b57-4f61-9d7e-3a0d8a5b6c11`;
const IMAGES = {
  plain: { hw_firmware_type: 'uefi' },
  q35: { hw_firmware_type: 'uefi', hw_machine_type: 'q35' },
  secure: { hw_firmware_type: 'uefi', hw_machine_type: 'q35', os_secure_boot: 'required' },
  secureSigned: { hw_firmware_type: 'uefi', hw_machine_type: 'q35', os_secure_boot: 'required' },
  secureWithoutQ35: { hw_firmware_type: 'uefi', os_secure_boot: 'required' },
} as const;
const ids = Object.fromEntries(Object.keys(IMAGES).map((name) => [name, randomUUID()])) as Record<
  keyof typeof IMAGES,
  string
>;

describe.skipIf(missing)('machines with UEFI firmware', { timeout: 2 * CONDITION_TIMEOUT_MS }, () => {
  let cloud: QemuCloud;
  beforeAll(async () => {
    const images = (folder: string, guest: Parameters<typeof buildUefiDisk>[1]) => {
      const unsignedDisk = buildUefiDisk(folder, guest);
      const signedDisk = missingSigned ? unsignedDisk : buildUefiDisk(folder, guest, true);
      return Object.entries(IMAGES).map(([name, properties]) => {
        const content = () => createReadStream(name === 'secureSigned' ? signedDisk : unsignedDisk);
        return { id: ids[name as keyof typeof IMAGES], name, diskFormat: 'qcow2', content, properties };
      });
    };
    cloud = await QemuCloud.open({}, {}, { images, modules: ['efivarfs'] });
  }, CONDITION_TIMEOUT_MS);
  afterAll(() => cloud?.close());

  const boot = async (image: keyof typeof IMAGES) =>
    (await cloud.create({ imageId: ids[image], flavorId: 'large-memory' })).id;
  const remove = async (id: string) => {
    await cloud.engine.servers.delete(ada, id);
    await cloud.engine.idle();
  };

  it('boot from a disk with a UEFI boot loader', async () => {
    const id = await boot('plain');
    await cloud.console(id, BOOTED, CONDITION_TIMEOUT_MS);
    expect(await (await cloud.line(id)).run('[ -d /sys/firmware/efi ] && echo uefi')).toContain('uefi');
    await remove(id);
  });

  it('boot on q35, keep the variables of the guest while off, and attach devices while they run', async () => {
    const id = await boot('q35');
    await cloud.console(id, BOOTED, CONDITION_TIMEOUT_MS);
    // The first four bytes of the file are the attributes: non-volatile, for boot services and the operating system.
    await (await cloud.line(id)).run(`${MOUNT_VARIABLES} && printf '\\007\\000\\000\\000kept' >${VARIABLE}`);
    const volume = await cloud.engine.embedded.volumes.createVolume(ada.caller, { key: randomUUID(), sizeGb: 1 });
    const request = { volumeId: volume.id, allowShelved: false, multiattach: false };
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'attachVolume', request));
    const line = await cloud.line(id);
    await eventually(async () => expect(await line.run('ls /sys/block')).toContain('vdb'), PATIENT);
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'detachVolume', { volumeId: volume.id }));
    await eventually(async () => expect(await line.run('ls /sys/block')).not.toContain('vdb'), PATIENT);
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'os-stop'));
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'os-start'));
    await cloud.console(id, new RegExp(`${BOOTED.source}[\\s\\S]*${BOOTED.source}`), CONDITION_TIMEOUT_MS);
    expect(await (await cloud.line(id)).run(`${MOUNT_VARIABLES} && tail -c 4 ${VARIABLE}`)).toBe('kept');
    await remove(id);
  });

  it('do not start an unsigned boot loader with secure boot', async () => {
    const id = await boot('secure');
    await cloud.console(id, /Access Denied|Security Violation/i, CONDITION_TIMEOUT_MS);
    expect(await cloud.console(id, /Access Denied|Security Violation/i)).not.toMatch(BOOTED);
    await remove(id);
  });

  it.skipIf(missingSigned)('start signed boot loaders and a signed kernel with secure boot', async () => {
    const id = await boot('secureSigned');
    await cloud.console(id, BOOTED, CONDITION_TIMEOUT_MS);
    expect(await (await cloud.line(id)).run('dmesg | grep -i "secure boot"')).toContain('Secure boot enabled');
    await remove(id);
  });

  it('are rejected with the reason if the image has unsupported requirements', async () => {
    await expect(boot('secureWithoutQ35')).rejects.toThrow(
      /secure boot is required, but works only with hw_machine_type=q35/,
    );
  });
});
