import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Machine } from '../machine/machine.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import { type MachineLayout, queryLayout, validateLayout } from '../machine/machine-layout.js';
import { QemuError } from '../qemu-error.js';
import { checkMemoryMoved, configureMemoryMove, isEndEvent } from '../qmp/memory-move.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { checkSpace } from '../volumes/check-space.js';
import type { DriverOperations } from './operation-request.js';

const MIB = 2 ** 20;

/** The files in which a suspended machine is saved. */
export const SUSPEND_FILES = ['memory', 'layout'] as const;

/** The error codes for a socket that QEMU closed before this process did. */
const CLOSE_ERROR_CODES: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'EPIPE', 'ECONNRESET']);

async function sendMemory(qmp: QmpClient, uri: string, signal: AbortSignal): Promise<void> {
  await configureMemoryMove(qmp, false);
  await checkMemoryMoved(qmp, await qmp.executeUntil('migrate', { uri }, isEndEvent, signal), 'QEMU_COMMAND_FAILED');
}

/**
 * Writes the memory of a machine to a file. QEMU sends the memory through a socket, because QEMU's sandbox prevents
 * QEMU from starting a program that would write the file.
 */
async function saveMemory({ folder }: Machine, qmp: QmpClient, signal: AbortSignal): Promise<void> {
  const [path, target] = [folder.file('moving'), folder.file('memory')];
  await writeFile(folder.file('layout'), JSON.stringify(await queryLayout(folder, qmp)));
  await rm(path, { force: true });
  const server = createServer();
  server.listen(path);
  await once(server, 'listening', { signal });
  try {
    await folder.changeOwner(path);
    const saving = once(server, 'connection', { signal }).then(([socket]) =>
      pipeline(socket, createWriteStream(`${target}.new`, { mode: 0o600 }), { signal }),
    );
    await Promise.all([saving, sendMemory(qmp, `unix:${path}`, signal)]);
    await rename(`${target}.new`, target);
  } finally {
    server.close();
    await rm(path, { force: true });
    await rm(`${target}.new`, { force: true });
  }
}

/** Sends the saved memory to a new machine, which waits for it. */
async function loadMemory({ folder }: Machine, qmp: QmpClient, signal: AbortSignal): Promise<void> {
  const path = folder.file('moving');
  await rm(path, { force: true });
  await configureMemoryMove(qmp, false);
  // QEMU listens on the socket as soon as it has responded to this command.
  await qmp.execute('migrate-incoming', { uri: `unix:${path}` });
  const loadEnd = qmp.waitFor(isEndEvent, signal);
  const file = createReadStream(folder.file('memory'), { highWaterMark: 2 ** 20 });
  // QEMU may close the socket when it has read enough. An event reports whether the memory is complete.
  const sending = pipeline(file, connect(path), { signal }).catch((error) => {
    if (!CLOSE_ERROR_CODES.has(error.code)) throw error;
  });
  const [endEvent] = await Promise.all([loadEnd, sending]);
  await checkMemoryMoved(qmp, endEvent, 'QEMU_COMMAND_FAILED');
}

/** Returns the device layout of the machine whose memory was saved. */
async function readSavedLayout(folder: MachineFolder): Promise<MachineLayout> {
  return validateLayout(JSON.parse(await readFile(folder.file('layout'), 'utf8')));
}

/** The operations that pause, suspend and resume a guest, or make it write a crash dump. */
export const memoryOperations: DriverOperations = {
  pause: async ({ host, server }) => {
    await (await host.machine(server).qmp()).execute('stop');
  },
  unpause: async ({ host, server }) => {
    await (await host.machine(server).qmp()).execute('cont');
  },
  suspend: async ({ host, server, signal }) => {
    const machine = host.machine(server);
    const qmp = await machine.connectIfRunning();
    if (!qmp && (await machine.folder.exists('memory'))) return;
    if (!qmp) throw new QemuError('MACHINE_NOT_RUNNING', 'the machine is not running');
    const { status } = await qmp.execute<{ status: string }>('query-status');
    if (status === 'postmigrate') {
      // An earlier process died after QEMU had sent the memory. If the file is complete, only the power-off is missing.
      if (await machine.folder.exists('memory')) return machine.powerOff();
      await qmp.execute('cont');
    }
    await machine.folder.removeFiles(...SUSPEND_FILES);
    await checkSpace(host.parts.directory, server.flavor.memoryMb * MIB);
    await qmp.execute('stop');
    try {
      await saveMemory(machine, qmp, signal);
    } catch (error) {
      await qmp.execute('cont').catch(() => {});
      throw error;
    }
    await machine.powerOff();
  },
  resume: async ({ host, server, signal }) => {
    const machine = host.machine(server);
    if (await machine.folder.exists('memory')) {
      // If an interrupted attempt has started the machine, the machine must be started again.
      await machine.powerOff();
      const layout = await readSavedLayout(machine.folder);
      await loadMemory(machine, await host.start(server, signal, server.flavor, layout), signal);
      // The saved memory becomes stale as soon as the guest writes to its disks.
      await machine.folder.removeFiles(...SUSPEND_FILES);
    }
    await (await host.start(server, signal)).execute('cont');
  },
  crash_dump: async ({ host, server }) => {
    await (await host.machine(server).qmp()).execute('inject-nmi');
  },
};
