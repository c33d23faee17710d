import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Machine } from '../machine/machine.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import { checkedLayout, layoutOf, type MachineLayout } from '../machine/machine-layout.js';
import { QemuError } from '../qemu-error.js';
import { beforeMemoryMove, checkMemoryMoved, hasEnded } from '../qmp/memory-move.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import type { Verbs } from './order.js';

/** What is kept of a machine while it is suspended. */
export const SAVED = ['memory', 'layout'] as const;

async function send(qmp: QmpClient, uri: string, signal: AbortSignal): Promise<void> {
  await beforeMemoryMove(qmp, false);
  await checkMemoryMoved(qmp, await qmp.executeUntil('migrate', { uri }, hasEnded, signal), 'MACHINE_REFUSED');
}

/** Writes the memory of a machine to a file. QEMU sends it through a socket, for it may run no programs. */
async function saveMemory({ folder }: Machine, qmp: QmpClient, signal: AbortSignal): Promise<void> {
  const [path, target] = [folder.file('moving'), folder.file('memory')];
  await writeFile(folder.file('layout'), JSON.stringify(await layoutOf(qmp)));
  await rm(path, { force: true });
  const server = createServer();
  server.listen(path);
  await once(server, 'listening', { signal });
  try {
    await folder.give(path);
    const saved = once(server, 'connection', { signal }).then(([socket]) =>
      pipeline(socket, createWriteStream(`${target}.new`, { mode: 0o600 }), { signal }),
    );
    await Promise.all([saved, send(qmp, `unix:${path}`, signal)]);
    await rename(`${target}.new`, target);
  } finally {
    server.close();
    await rm(path, { force: true });
    await rm(`${target}.new`, { force: true });
  }
}

/** Gives a machine that waits for its memory what was saved of it. */
async function loadMemory({ folder }: Machine, qmp: QmpClient, signal: AbortSignal): Promise<void> {
  const path = folder.file('moving');
  await rm(path, { force: true });
  await beforeMemoryMove(qmp, false);
  // It listens once the command is answered.
  await qmp.execute('migrate-incoming', { uri: `unix:${path}` });
  const done = qmp.waitFor(hasEnded, signal);
  const sent = pipeline(createReadStream(folder.file('memory'), { highWaterMark: 2 ** 20 }), connect(path), { signal });
  const [ended] = await Promise.all([done, sent]);
  await checkMemoryMoved(qmp, ended, 'MACHINE_REFUSED');
}

/** How the machine was put together whose memory was saved. */
async function savedLayout(folder: MachineFolder): Promise<MachineLayout> {
  return checkedLayout(JSON.parse(await readFile(folder.file('layout'), 'utf8')));
}

/** What happens to a machine's memory while it does not run. */
export const memory: Verbs = {
  pause: async ({ host, server }) => {
    await (await host.machine(server).qmp()).execute('stop');
  },
  unpause: async ({ host, server }) => {
    await (await host.machine(server).qmp()).execute('cont');
  },
  suspend: async ({ host, server, signal }) => {
    const machine = host.machine(server);
    const qmp = await machine.running();
    if (!qmp && (await machine.folder.exists('memory'))) return;
    if (!qmp) throw new QemuError('MACHINE_NOT_RUNNING', 'the machine does not run');
    const { status } = await qmp.execute<{ status: string }>('query-status');
    if (status === 'postmigrate') {
      // Its memory has left it, and whoever had that done has died since.
      if (await machine.folder.exists('memory')) return machine.end();
      await qmp.execute('cont');
    }
    await machine.folder.removeFiles(...SAVED);
    await qmp.execute('stop');
    try {
      await saveMemory(machine, qmp, signal);
    } catch (error) {
      await qmp.execute('cont').catch(() => {});
      throw error;
    }
    await machine.end();
  },
  resume: async ({ host, server, signal }) => {
    const machine = host.machine(server);
    if (await machine.folder.exists('memory')) {
      // One that was left in the middle of this begins anew.
      await machine.end();
      const layout = await savedLayout(machine.folder);
      await loadMemory(machine, await host.start(server, signal, server.flavor, layout), signal);
      // What the guest writes from here on does not go with this memory any more.
      await machine.folder.removeFiles(...SAVED);
    }
    await (await host.start(server, signal)).execute('cont');
  },
  crash_dump: async ({ host, server }) => {
    await (await host.machine(server).qmp()).execute('inject-nmi');
  },
};
