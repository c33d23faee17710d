import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { processesOf } from '../../../../packages/qemu/test/processes-of.js';
import { machineDirectory } from '../../../../packages/qemu/test/qemu-cloud.js';
import { eventually } from '../../../../testing/eventually.js';
import { type Program, sendRequest, startProgram } from '../program.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: an image file that changes: this machine has no ${missing} ***\n`);

const SECTOR_BYTES = 512;
const LOAD_ADDRESS = 0x7c00;
/** Writes the text after the code to the serial port, and halts. The address of the text follows the opcode `be`. */
const BOOT_CODE = 'fa fc 31c0 8ed8 be0000 baf803 ac 84c0 7403 ee ebf8 f4 ebfd'.replaceAll(' ', '');
const ADDRESS_OFFSET = BOOT_CODE.indexOf('be0000') / 2 + 1;

/** Returns a raw disk whose boot sector writes a line to the serial console. */
function bootDisk(line: string): Buffer {
  const disk = Buffer.alloc(2 ** 20);
  const code = Buffer.from(BOOT_CODE, 'hex');
  code.writeUInt16LE(LOAD_ADDRESS + code.length, ADDRESS_OFFSET);
  code.copy(disk);
  disk.write(`${line}\r\n\0`, code.length, 'latin1');
  disk.writeUInt16LE(0xaa55, SECTOR_BYTES - 2);
  return disk;
}

describe.skipIf(missing)('an image file that changes while the program is stopped', { timeout: 600_000 }, () => {
  const folder = machineDirectory();
  const file = join(folder, 'system.raw');
  const machines = join(folder, 'machines');
  let program: Program;

  const start = async () => {
    const qemu = ['--driver', 'qemu', '--machine-dir', machines, '--acceleration', 'tcg', '--image', `system=${file}`];
    program = await startProgram(['--db', join(folder, 'cloud.db'), '--log-level', 'error', ...qemu]);
  };
  afterAll(async () => {
    await program?.end('SIGKILL');
    // Machines continue to run after the program ends, so a failed test must remove its machines.
    for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  async function send(method: string, path: string, body?: object, version = '2.90') {
    const { status, body: received } = await sendRequest(program.url, method, `/v2.1${path}`, { version, body });
    expect(status, `${method} ${path} ${JSON.stringify(received)}`).toBeLessThan(300);
    return received;
  }

  /** Returns the ids of the visible images with the name of the file's image. */
  async function imageIds(): Promise<string[]> {
    const { images } = await send('GET', '/images', undefined, '2.35');
    return images.filter(({ name }: { name: string }) => name === 'system').map(({ id }: { id: string }) => id);
  }

  async function create(imageRef: string): Promise<string> {
    const server = { name: 'one', flavorRef: '1', imageRef, networks: 'none' };
    return (await send('POST', '/servers', { server })).server.id;
  }

  const act = (id: string, action: object) => send('POST', `/servers/${id}/action`, action);

  /** Waits until a server is active, and the last boot sector on its console has written a line. */
  const boots = (id: string, line: string, count?: number) =>
    eventually(async () => {
      expect((await send('GET', `/servers/${id}`)).server).toMatchObject({ status: 'ACTIVE' });
      const { output } = await act(id, { 'os-getConsoleOutput': {} });
      const lines = output.match(/the \w+ system/g) ?? [];
      expect(lines.at(-1)).toBe(line);
      if (count !== undefined) expect(lines).toHaveLength(count);
    });

  it('stays available to the servers of the former image, and new servers use the new one', async () => {
    writeFileSync(file, bootDisk('the former system'));
    await start();
    const [former = ''] = await imageIds();
    const server = await create(former);
    await boots(server, 'the former system', 1);
    expect(await program.end('SIGTERM')).toBe(0);

    writeFileSync(file, bootDisk('the changed system'));
    await start();
    const [changed = '', ...others] = await imageIds();
    expect(others).toEqual([]);
    expect(changed).not.toBe(former);
    await boots(await create(changed), 'the changed system');

    await act(server, { reboot: { type: 'HARD' } });
    await boots(server, 'the former system', 2);
    await act(server, { rebuild: { imageRef: changed } });
    await boots(server, 'the changed system');
    // The former image's content must be in the image service, and not only in the host's cache.
    for (const name of readdirSync(join(machines, 'images'))) rmSync(join(machines, 'images', name));
    await act(server, { rebuild: { imageRef: former } });
    await boots(server, 'the former system');
  });
});
