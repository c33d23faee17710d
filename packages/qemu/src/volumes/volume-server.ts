import { endProcess, findProcess, startProcess } from '../machine/machine-process.js';
import type { RunAs } from '../programs/run-program.js';
import { QmpClient } from '../qmp/qmp-client.js';
import type { VolumeContent } from './volume-content.js';

/** The names of a volume's block node and of its NBD export. */
export const DISK = 'disk';
export const EXPORT = 'volume';

const EXPORT_ARGUMENTS = { type: 'nbd', id: EXPORT, 'node-name': DISK, name: EXPORT, writable: true };

function serverArguments(content: VolumeContent, disk: object): string[] {
  return [
    ...['--blockdev', JSON.stringify({ ...disk, 'node-name': DISK })],
    ...['--nbd-server', `addr.type=unix,addr.path=${content.file('socket')}`],
    ...['--chardev', `socket,id=control,path=${content.file('qmp')},server=on,wait=off`],
    ...['--monitor', 'chardev=control', '--pidfile', content.file('pid')],
  ];
}

/**
 * Runs a function with a connection, and then closes the connection, because a process serves one connection at a time.
 */
async function withConnection<T>(qmp: QmpClient, work: (qmp: QmpClient) => Promise<T>): Promise<T> {
  try {
    return await work(qmp);
  } finally {
    qmp.close();
  }
}

/** Runs a function with a connection to the process that serves a volume; returns undefined if there is none. */
export async function withServer<T>(
  content: VolumeContent,
  work: (qmp: QmpClient) => Promise<T>,
): Promise<T | undefined> {
  if ((await findProcess(content)) === undefined) return undefined;
  return withConnection(await QmpClient.connect(content.file('qmp')), work);
}

/**
 * Starts a process that serves a volume and outlives this one. No-op if such a process is running.
 *
 * @param attach makes the disk available, and returns the `blockdev-add` arguments that open it
 */
export async function serveVolume(
  content: VolumeContent,
  attach: () => Promise<object>,
  program: string,
  runAs: RunAs | undefined,
  signal: AbortSignal,
): Promise<void> {
  const running = (await findProcess(content)) !== undefined;
  const qmp = running
    ? await QmpClient.connect(content.file('qmp'))
    : await startProcess(content, program, serverArguments(content, await attach()), runAs, signal);
  await withConnection(qmp, async () => {
    const exports = await qmp.execute<unknown[]>('query-block-exports');
    if (exports.length === 0) await qmp.execute('block-export-add', EXPORT_ARGUMENTS);
  });
}

/** Extends a volume while a process serves it. NBD clients reconnect after a short interruption. */
export async function growExport(qmp: QmpClient, bytes: number, signal: AbortSignal): Promise<void> {
  const removed = ({ event }: { event: string }) => event === 'BLOCK_EXPORT_DELETED';
  await qmp.executeUntil('block-export-del', { id: EXPORT, mode: 'hard' }, removed, signal);
  try {
    await qmp.execute('block_resize', { 'node-name': DISK, size: bytes });
  } finally {
    await qmp.execute('block-export-add', EXPORT_ARGUMENTS);
  }
}

/** Makes the process that serves a volume write all data and exit. */
export async function endServer(content: VolumeContent): Promise<void> {
  await withServer(content, (qmp) => qmp.quit()).catch(() => {});
  await endProcess(content);
}
