import { createWriteStream } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Server } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import { ownerOf } from '../images/image-cache.js';
import type { MachineManifest } from './machine-manifest.js';
import { createTransferClient, InterruptedTransferError, retryWhileUnreachable } from './transfer-requests.js';

/** A machine that this host receives from another host. */
export interface RemoteMachine {
  readonly host: Host;
  readonly server: Server;
  readonly sourceHost: string;
  readonly signal: AbortSignal;
  /** Whether to wait while the source host is unavailable, because the machine exists only there. */
  readonly retriesWhileUnreachable?: boolean;
}

function retryIfWaiting<T>(
  { retriesWhileUnreachable = false, signal }: RemoteMachine,
  request: () => Promise<T>,
): Promise<T> {
  return retriesWhileUnreachable ? retryWhileUnreachable(request, signal) : request();
}

export function fetchManifest(remote: RemoteMachine): Promise<MachineManifest> {
  const { host, server, sourceHost, signal } = remote;
  return retryIfWaiting(remote, () =>
    createTransferClient(sourceHost, host, signal).value({ kind: 'manifest', serverId: server.id }),
  );
}

/** Error codes of broken connections. */
const CONNECTION_ERRORS: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'];

/** Fetches a file of a machine from the source host, and replaces the local file atomically. */
export function fetchFile(remote: RemoteMachine, name: string, target: string): Promise<void> {
  return retryIfWaiting(remote, () => fetchFileOnce(remote, name, target));
}

async function fetchFileOnce(
  { host, server, sourceHost, signal }: RemoteMachine,
  name: string,
  target: string,
): Promise<void> {
  const content = await createTransferClient(sourceHost, host, signal).read({
    kind: 'file',
    serverId: server.id,
    name,
  });
  const temporaryFile = `${target}.new`;
  await rm(temporaryFile, { force: true });
  await pipeline(content, createWriteStream(temporaryFile, { mode: 0o600 }), { signal }).catch((cause) => {
    throw CONNECTION_ERRORS.includes(cause.code)
      ? new InterruptedTransferError(`${name} from ${sourceHost}`, { cause })
      : cause;
  });
  await host.machine(server).folder.changeOwner(temporaryFile);
  await rename(temporaryFile, target);
}

/**
 * Fetches the image that backs a machine's root disk, and all files of the machine except disks and the console log.
 * The image comes from the image service if possible, otherwise from the source host.
 */
export async function fetchCompanionFiles(remote: RemoteMachine, { base, files }: MachineManifest): Promise<void> {
  const { host, server, signal } = remote;
  const { folder } = host.machine(server);
  for (const name of files) await fetchFile(remote, name, folder.file(name));
  if (!base) return;
  if (base.imageId !== null && (await linkBaseImage(remote, base.imageId, base.bytes, signal)))
    await writeFile(folder.file('rootImage'), base.imageId);
  else await fetchFile(remote, 'rootBase', folder.file('rootBase'));
}

/** Links the image that backs the root disk from the image cache. Returns false if the image is unavailable. */
async function linkBaseImage(
  { host, server }: RemoteMachine,
  imageId: string,
  bytes: number,
  signal: AbortSignal,
): Promise<boolean> {
  const base = host.machine(server).folder.file('rootBase');
  try {
    return (await host.diskTools.cache.linkImage(ownerOf(server), imageId, base, bytes, signal)) === bytes;
  } catch {
    signal.throwIfAborted();
    // The image was deleted, but servers that were created from it still need its content.
    return false;
  }
}
