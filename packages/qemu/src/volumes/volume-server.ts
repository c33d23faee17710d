import { endProcess, findProcess, startProcess } from '../machine/machine-process.js';
import type { RunAs } from '../programs/run-program.js';
import { QmpClient } from '../qmp/qmp-client.js';
import type { VolumeContent } from './volume-content.js';

/** The node of the disk, and the export of it. */
export const DISK = 'disk';
export const EXPORT = 'volume';

const exported = { type: 'nbd', id: EXPORT, 'node-name': DISK, name: EXPORT, writable: true };

function serverArguments(content: VolumeContent): string[] {
  const disk = {
    driver: 'qcow2',
    'node-name': DISK,
    discard: 'unmap',
    file: { driver: 'file', filename: content.file('disk') },
  };
  return [
    ...['--blockdev', JSON.stringify(disk)],
    ...['--nbd-server', `addr.type=unix,addr.path=${content.file('socket')}`],
    ...['--chardev', `socket,id=control,path=${content.file('qmp')},server=on,wait=off`],
    ...['--monitor', 'chardev=control', '--pidfile', content.file('pid')],
  ];
}

/** Lets go of a server when the work is done: others may have something to tell it, too. */
async function using<T>(qmp: QmpClient, work: (qmp: QmpClient) => Promise<T>): Promise<T> {
  try {
    return await work(qmp);
  } finally {
    qmp.close();
  }
}

/** Does something with the process that serves a volume; undefined where there is none. */
export async function withServer<T>(
  content: VolumeContent,
  work: (qmp: QmpClient) => Promise<T>,
): Promise<T | undefined> {
  if ((await findProcess(content)) === undefined) return undefined;
  return using(await QmpClient.connect(content.file('qmp')), work);
}

/** Sees to it that a volume is served, by a process that outlives this one. One that is served already stays so. */
export async function serveVolume(
  content: VolumeContent,
  program: string,
  runAs: RunAs | undefined,
  signal: AbortSignal,
): Promise<void> {
  const running = (await findProcess(content)) !== undefined;
  const qmp = running
    ? await QmpClient.connect(content.file('qmp'))
    : await startProcess(content, program, serverArguments(content), runAs, signal);
  await using(qmp, async () => {
    const exports = await qmp.execute<unknown[]>('query-block-exports');
    if (exports.length === 0) await qmp.execute('block-export-add', exported);
  });
}

/** Grows the disk of a volume that is served. Whoever uses it waits for a moment, and connects again. */
export async function growServed(qmp: QmpClient, bytes: number, signal: AbortSignal): Promise<void> {
  const gone = ({ event }: { event: string }) => event === 'BLOCK_EXPORT_DELETED';
  await qmp.executeUntil('block-export-del', { id: EXPORT, mode: 'hard' }, gone, signal);
  try {
    await qmp.execute('block_resize', { 'node-name': DISK, size: bytes });
  } finally {
    await qmp.execute('block-export-add', exported);
  }
}

/** Ends the process that serves a volume, with everything written. */
export async function endServer(content: VolumeContent): Promise<void> {
  await withServer(content, (qmp) => qmp.quit()).catch(() => {});
  await endProcess(content);
}
