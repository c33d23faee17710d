import { findProcess, killProcess, startQemuProcess } from '../machine/machine-process.js';
import type { RunAs } from '../programs/run-program.js';
import { QmpClient } from '../qmp/qmp-client.js';
import type { VolumeContent } from './volume-content.js';

/** The names of a volume's block node and of its NBD export. */
export const DISK_NODE = 'disk';
export const EXPORT_NAME = 'volume';

const EXPORT_ARGUMENTS = { type: 'nbd', id: EXPORT_NAME, 'node-name': DISK_NODE, name: EXPORT_NAME, writable: true };

function serverArguments(content: VolumeContent, disk: object): string[] {
  return [
    ...['--blockdev', JSON.stringify({ ...disk, 'node-name': DISK_NODE })],
    ...['--nbd-server', `addr.type=unix,addr.path=${content.file('socket')}`],
    ...['--chardev', `socket,id=control,path=${content.file('qmp')},server=on,wait=off`],
    ...['--monitor', 'chardev=control', '--pidfile', content.file('pid')],
  ];
}

/**
 * Runs a function with a connection, and then closes the connection, because a process serves one connection at a time.
 */
async function runAndClose<T>(qmp: QmpClient, work: (qmp: QmpClient) => Promise<T>): Promise<T> {
  try {
    return await work(qmp);
  } finally {
    qmp.close();
  }
}

/** Runs a function with a connection to the process that serves a volume; returns undefined if there is none. */
export async function runOnServer<T>(
  content: VolumeContent,
  work: (qmp: QmpClient) => Promise<T>,
): Promise<T | undefined> {
  if ((await findProcess(content)) === undefined) return undefined;
  return runAndClose(await QmpClient.connect(content.file('qmp')), work);
}

/**
 * Starts a process that serves a volume and outlives the current process. No-op if such a process is running.
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
  const isRunning = (await findProcess(content)) !== undefined;
  const qmp = isRunning
    ? await QmpClient.connect(content.file('qmp'))
    : await startQemuProcess(content, program, serverArguments(content, await attach()), runAs, signal);
  await runAndClose(qmp, async () => {
    const blockExports = await qmp.execute<unknown[]>('query-block-exports');
    if (blockExports.length === 0) await qmp.execute('block-export-add', EXPORT_ARGUMENTS);
  });
}

/** Extends a volume while a process serves it. NBD clients reconnect after a short interruption. */
export async function growExport(qmp: QmpClient, bytes: number, signal: AbortSignal): Promise<void> {
  const isExportDeleted = ({ event }: { event: string }) => event === 'BLOCK_EXPORT_DELETED';
  await qmp.executeUntil('block-export-del', { id: EXPORT_NAME, mode: 'hard' }, isExportDeleted, signal);
  try {
    await qmp.execute('block_resize', { 'node-name': DISK_NODE, size: bytes });
  } finally {
    await qmp.execute('block-export-add', EXPORT_ARGUMENTS);
  }
}

/** Makes the process that serves a volume write all data and exit. */
export async function stopServer(content: VolumeContent): Promise<void> {
  await runOnServer(content, (qmp) => qmp.quit()).catch(() => {});
  await killProcess(content);
}
