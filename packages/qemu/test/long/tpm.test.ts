import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findInstalledProgram } from '../../src/programs/find-program.js';
import { COMMAND_LINE, missingForGuests } from '../guest/build-guest.js';
import { TPM_DEFINED, TPM_WORD, tpmCommand } from '../guest/tpm-commands.js';
import { processesOf } from '../processes-of.js';
import { ada, KERNEL, QemuCloud, RAMDISK } from '../qemu-cloud.js';

const missing = missingForGuests() ?? (findInstalledProgram('swtpm') ? undefined : 'swtpm');
if (missing) console.warn(`\n*** SKIPPED: machines with a TPM: this machine has no ${missing} ***\n`);

const [TPM_2, TPM_1] = [randomUUID(), randomUUID()] as const;
const CONDITION_TIMEOUT_MS = 120_000;
const PATIENT = { timeout: CONDITION_TIMEOUT_MS, interval: 100 };
const READY = /GUEST ready/;

describe.skipIf(missing)('machines with a TPM', { timeout: 4 * CONDITION_TIMEOUT_MS }, () => {
  let cloud: QemuCloud;
  let id: string;

  beforeAll(async () => {
    const guest = { kernel_id: KERNEL, ramdisk_id: RAMDISK, os_command_line: COMMAND_LINE };
    const image = (imageId: string, properties: Readonly<Record<string, string>>) => ({
      ...{ id: imageId, name: 'guest with a TPM', diskFormat: 'raw' as const, content: Buffer.alloc(2 ** 20) },
      properties: { ...guest, ...properties },
    });
    const images = () => [
      image(TPM_2, { hw_tpm_version: '2.0', hw_tpm_model: 'tpm-crb' }),
      image(TPM_1, { hw_tpm_version: '1.2' }),
    ];
    cloud = await QemuCloud.open({}, {}, { images });
    id = (await cloud.create({ imageId: TPM_2 })).id;
    await cloud.console(id, READY, CONDITION_TIMEOUT_MS);
  }, 2 * CONDITION_TIMEOUT_MS);
  afterAll(() => cloud?.close());

  const emulators = (server = id) => processesOf(join(cloud.machines, server), 'swtpm');
  const run = async (command: string) => (await cloud.line(id)).run(command);
  const booted = (times: number) =>
    cloud.console(id, new RegExp(`(${READY.source}[\\s\\S]*){${times}}`), CONDITION_TIMEOUT_MS);

  it('have one that the guest uses', async () => {
    expect(await run('cat /sys/class/tpm/tpm0/tpm_version_major')).toBe('2');
    expect(emulators()).toHaveLength(1);
    expect(await run(tpmCommand('define'))).toBe(TPM_DEFINED);
    expect(await run(tpmCommand('write'))).toMatch(/^8002.{8}00000000/);
    expect(await run(tpmCommand('read'))).toContain(TPM_WORD);
  });

  it('keep their TPM while the program restarts', async () => {
    const [before] = emulators();
    await cloud.engine.close();
    expect(emulators()).toEqual([before]);
    await cloud.begin();
    await cloud.settled(id);
    expect(emulators()).toEqual([before]);
    expect(await run(tpmCommand('read'))).toContain(TPM_WORD);
  });

  it('keep its state while they are suspended, and while they are off', async () => {
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'suspend'));
    await expect.poll(() => emulators(), PATIENT).toEqual([]);
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'resume'));
    expect(await run(tpmCommand('read'))).toContain(TPM_WORD);
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'os-stop'));
    await expect.poll(() => emulators(), PATIENT).toEqual([]);
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'os-start'));
    await booted(2);
    expect(await run(tpmCommand('read'))).toContain(TPM_WORD);
  });

  it('stop the emulator when the machine is killed, and start with it again', async () => {
    const pid = Number(await readFile(join(cloud.machines, id, 'pid'), 'utf8'));
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => emulators(), PATIENT).toEqual([]);
    await expect.poll(async () => (await cloud.engine.servers.get(ada, id)).vmState, PATIENT).toBe('stopped');
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'os-start'));
    await booted(3);
    expect(await run(tpmCommand('read'))).toContain(TPM_WORD);
  });

  it('have a new one after a rebuild, of the version of the new image', async () => {
    const request = { imageId: TPM_1, mayReimage: false };
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'rebuild', request));
    await booted(4);
    expect(await run('cat /sys/class/tpm/tpm0/tpm_version_major')).toBe('1');
    expect(existsSync(join(cloud.machines, id, 'tpm2-00.permall'))).toBe(false);
  });

  it('are removed together with their TPM', async () => {
    expect(emulators()).toHaveLength(1);
    await cloud.engine.servers.delete(ada, id);
    await cloud.engine.idle();
    expect(emulators()).toEqual([]);
    expect(cloud.folders()).not.toContain(id);
  });
});
