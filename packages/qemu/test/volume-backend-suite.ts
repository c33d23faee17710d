import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { findInstalledProgram } from '../src/programs/find-program.js';
import { runProgram } from '../src/programs/run-program.js';
import type { VolumeBackend } from '../src/volumes/volume-backend.js';
import { VolumeContent } from '../src/volumes/volume-content.js';
import { EXPORT_NAME, growExport, runOnServer, serveVolume, stopServer } from '../src/volumes/volume-server.js';

const MIB = 2 ** 20;
const PROGRAMS = ['qemu-img', 'qemu-io', 'qemu-storage-daemon'] as const;

/** Returns the name of a program that the suite needs and this computer does not have. */
export function missingForVolumes(): string | undefined {
  return PROGRAMS.find((name) => findInstalledProgram(name) === undefined);
}

/** The volume backend that the suite tests. */
export interface BackendSuite {
  readonly name: string;
  /** Opens the volume backend. @param folder contains a folder for each disk, named after it */
  open(folder: string): Promise<VolumeBackend>;
  /** Removes the data that the backend has stored outside of the folders, after all tests. */
  close?(): Promise<void>;
}

/**
 * Registers the conformance tests for volume backends. The tests access disks over NBD, as guests do.
 * @param missing what this machine lacks for the tests, which are then skipped with a warning
 */
export function testVolumeBackend(suite: BackendSuite, missing?: string): void {
  const title = `volumes of ${suite.name}`;
  if (missing) console.warn(`\n*** SKIPPED: ${title}: this machine has no ${missing} ***\n`);
  describe.skipIf(missing)(title, { timeout: 300_000 }, () => {
    const never = new AbortController().signal;
    let folder: string;
    let backend: VolumeBackend;
    let served: VolumeContent[];

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'avb-'));
      served = [];
      backend = await suite.open(folder);
    });
    afterEach(async () => {
      for (const content of served) await stopServer(content);
      rmSync(folder, { recursive: true, force: true });
    });

    afterAll(() => suite.close?.());

    /** Creates the folder of a new disk. */
    function newDisk(): string {
      const name = randomUUID();
      mkdirSync(join(folder, name));
      return name;
    }

    async function blank(bytes = 4 * MIB): Promise<string> {
      const name = newDisk();
      await backend.create(name, bytes, never);
      return name;
    }

    /** Creates a 1 MiB image that contains only the given byte, and a disk from this image. */
    async function fromImage(byte: number, bytes: number): Promise<{ readonly name: string; readonly image: string }> {
      const name = newDisk();
      const image = join(folder, name, 'image');
      writeFileSync(image, Buffer.alloc(MIB, byte));
      await backend.createFromImage(name, bytes, (file) => copyFile(image, file), never);
      return { name, image };
    }

    /** Serves a disk over NBD, as the host does. */
    async function serve(name: string): Promise<VolumeContent> {
      const content = new VolumeContent(join(folder, name), undefined);
      served.push(content);
      const program = findInstalledProgram('qemu-storage-daemon') ?? '';
      await serveVolume(content, () => backend.attach(name), program, undefined, never);
      return content;
    }

    /** Executes commands of `qemu-io` on a disk while it is served. */
    async function io(content: VolumeContent, ...commands: readonly string[]): Promise<string> {
      const address = `nbd+unix:///${EXPORT_NAME}?socket=${content.file('socket')}`;
      const args = commands.flatMap((command) => ['-c', command]);
      return runProgram('qemu-io', ['-f', 'raw', ...args, address], { runAs: undefined });
    }

    const write = (content: VolumeContent, byte: number, at: number) =>
      io(content, `write -P ${byte} ${at * MIB} ${MIB}`, 'flush');

    /** Checks the content of a disk: the expected byte in each MiB. */
    async function holds(content: VolumeContent, ...bytes: readonly number[]): Promise<void> {
      const output = await io(content, ...bytes.map((byte, at) => `read -P ${byte} ${at * MIB} ${MIB}`), 'length');
      expect(output).not.toContain('Pattern verification failed');
      expect(output).toContain(`\n${bytes.length} MiB`);
    }

    it('are blank, and keep written data when the process that serves them ends', async () => {
      const name = await blank();
      const content = await serve(name);
      await holds(content, 0, 0, 0, 0);
      await write(content, 7, 2);
      await stopServer(content);
      await holds(await serve(name), 0, 0, 7, 0);
      expect(await backend.size(name, never)).toBe(4 * MIB);
    });

    it('start with the content of an image, which does not change', async () => {
      const { name, image } = await fromImage(9, 2 * MIB);
      const content = await serve(name);
      await holds(content, 9, 0);
      await write(content, 1, 0);
      await holds(content, 1, 0);
      expect((await readFile(image)).equals(Buffer.alloc(MIB, 9))).toBe(true);
      expect(await backend.size(name, never)).toBe(2 * MIB);
    });

    it('are copied while no process has them open, and differ from then on', async () => {
      const { name } = await fromImage(9, 2 * MIB);
      let captures = 0;
      const copied = newDisk();
      await backend.copy(name, copied, { qmp: undefined, onCaptured: () => captures++, signal: never });
      const [source, target] = [await serve(name), await serve(copied)];
      await write(source, 1, 0);
      await write(target, 2, 1);
      await holds(source, 1, 0);
      await holds(target, 9, 2);
      expect(captures).toBeLessThanOrEqual(1);
    });

    it('are copied at one point in time while they are served', async () => {
      const name = await blank(32 * MIB);
      const source = await serve(name);
      await write(source, 5, 0);
      const copied = newDisk();
      let later: Promise<unknown> | undefined;
      const onCaptured = () => {
        later = write(source, 6, 0).then(() => write(source, 6, 31));
      };
      await runOnServer(source, (qmp) => backend.copy(name, copied, { qmp, onCaptured, signal: never }));
      expect(later).toBeDefined();
      await later;
      const zeros = Array.from({ length: 31 }, () => 0);
      await holds(await serve(copied), 5, ...zeros);
      await holds(source, 6, ...zeros.slice(1), 6);
    });

    it('survive the removal of the volume from which they were copied', async () => {
      const { name } = await fromImage(9, 2 * MIB);
      const copied = newDisk();
      await backend.copy(name, copied, { qmp: undefined, onCaptured: () => {}, signal: never });
      await backend.remove(name);
      await holds(await serve(copied), 9, 0);
    });

    it('grow while no process has them open, and while they are served', async () => {
      const name = await blank(1 * MIB);
      await backend.resize(name, 2 * MIB, false, never);
      expect(await backend.size(name, never)).toBe(2 * MIB);
      const content = await serve(name);
      await write(content, 3, 1);
      await backend.resize(name, 3 * MIB, true, never);
      await runOnServer(content, (qmp) => growExport(qmp, 3 * MIB, never));
      await holds(content, 0, 3, 0);
      expect(await backend.size(name, never)).toBe(3 * MIB);
      await stopServer(content);
      await holds(await serve(name), 0, 3, 0);
    });

    it('are removed, complete or not, any number of times', async () => {
      const name = await blank();
      await backend.remove(name);
      await backend.remove(name);
      await expect(backend.size(name, never)).rejects.toThrow();
      const failed = newDisk();
      const fetch = () => Promise.reject(new Error('no image'));
      await expect(backend.createFromImage(failed, MIB, fetch, never)).rejects.toThrow('no image');
      await backend.remove(failed);
      await backend.create(failed, MIB, never);
      await holds(await serve(failed), 0);
    });

    it('are not created if the signal is aborted', async () => {
      const name = newDisk();
      const reason = new Error('no longer needed');
      await expect(backend.create(name, MIB, AbortSignal.abort(reason))).rejects.toThrow(reason);
      await backend.remove(name);
      await backend.create(name, MIB, never);
    });

    it('occupy space of the storage while they contain data', async () => {
      const before = await backend.usage();
      const occupiedBytes = async () => {
        const { backend: kind, totalBytes, freeBytes, allocatedBytes } = await backend.usage();
        expect([kind, totalBytes]).toEqual([before.backend, before.totalBytes]);
        expect(freeBytes).toBeGreaterThan(0);
        expect(freeBytes + allocatedBytes).toBeLessThanOrEqual(totalBytes);
        return allocatedBytes - before.allocatedBytes;
      };
      const name = await blank(8 * MIB);
      const content = await serve(name);
      await io(content, `write -P 7 0 ${8 * MIB}`, 'flush');
      await eventually(async () => expect(await occupiedBytes()).toBeGreaterThanOrEqual(8 * MIB));
      const { name: imaged } = await fromImage(9, 2 * MIB);
      await eventually(async () => expect(await occupiedBytes()).toBeGreaterThanOrEqual(9 * MIB));
      await stopServer(content);
      for (const removed of [name, imaged]) await backend.remove(removed);
      await eventually(async () => expect(await occupiedBytes()).toBeLessThan(MIB));
    });

    it('are rejected if the storage is too small', async () => {
      await backend.checkSpace(MIB);
      await expect(backend.checkSpace(2 ** 60)).rejects.toMatchObject({ code: 'DISK_FULL' });
    });
  });
}
