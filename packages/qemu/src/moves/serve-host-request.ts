import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { HostRequester, LinkResponse } from '@apistrata/compute-engine/drivers';
import { connectSocket } from '../connect-socket.js';
import { validateCpu } from '../cpu/guest-cpu.js';
import type { Host } from '../host.js';
import { removeDiskSnapshots } from '../machine/disk-snapshots.js';
import { QemuError } from '../qemu-error.js';
import { HOST_SEPARATOR } from '../volumes/volume-transports.js';
import { completeArrival } from './arrival.js';
import { createManifest, findReadableFile } from './machine-manifest.js';
import { findCpuObstacle } from './move-obstacle.js';
import type { TransferRequest } from './transfer-request.js';

type VolumeRequest = Exclude<TransferRequest, { readonly serverId: string }>;

const READ_CHUNK_BYTES = 2 ** 20;

async function openFile(host: Host, serverId: string, name: string): Promise<LinkResponse> {
  const path = findReadableFile(host.machine({ id: serverId }).folder, name);
  if (path === undefined) throw new QemuError('UNSUPPORTED', `another host may not read the file ${name}`);
  const { size: bytes } = await stat(path).catch(() => ({ size: 0 }));
  const content = () => createReadStream(path, { end: bytes - 1, highWaterMark: READ_CHUNK_BYTES });
  return { stream: bytes === 0 ? Readable.from([]) : content() };
}

/** Validates an id from another host, because the id becomes part of a path. */
function validateId(id: string): string {
  if (!/^[\da-f-]{36}$/.test(id)) throw new QemuError('UNSUPPORTED', `malformed id ${id}`);
  return id;
}

/** Handles another host's request for a volume, on the host that stores volumes. */
async function serveVolumeRequest({ localVolumes }: Host, request: VolumeRequest): Promise<LinkResponse> {
  if (!localVolumes) throw new QemuError('UNSUPPORTED', 'this host does not store volumes');
  if (request.kind === 'volume')
    return { stream: await localVolumes.connect(validateId(request.content), request.userId) };
  const volumeId = validateId(request.volumeId);
  if (request.kind === 'close volume') {
    await localVolumes.close(basename(request.userId), volumeId);
    return { value: await localVolumes.contentNameOf(volumeId) };
  }
  const user = { ...request.user, id: basename(request.user.id) };
  await localVolumes.open(user, volumeId);
  return { value: await localVolumes.contentNameOf(volumeId) };
}

/**
 * Returns the id of the server that a request concerns, and whether the request only closes a volume that the
 * requesting host has opened.
 */
function parseSubject(
  request: TransferRequest,
  requester: HostRequester,
): { readonly serverId: string; readonly isClosingVolume: boolean } {
  if ('serverId' in request) return { serverId: validateId(request.serverId), isClosingVolume: false };
  const user = request.kind === 'open volume' ? request.user.id : request.userId;
  const [serverId = '', hostOfUser] = user.split(HOST_SEPARATOR);
  return {
    serverId: validateId(serverId),
    isClosingVolume: request.kind === 'close volume' && hostOfUser === requester.host,
  };
}

/**
 * Handles a request from another host of the same cloud. The request must concern a server that is on that host, or is
 * moving to or from it.
 */
export async function serveHostRequest(
  host: Host,
  request: TransferRequest,
  signal: AbortSignal,
  requester: HostRequester,
): Promise<LinkResponse> {
  const { serverId, isClosingVolume } = parseSubject(request, requester);
  if (!isClosingVolume && !(await requester.concerns(serverId)))
    throw new QemuError('UNSUPPORTED', `the host ${requester.host} may not send requests for the server ${serverId}`);
  if (!('serverId' in request)) return serveVolumeRequest(host, request);
  const { folder } = host.machine({ id: serverId });
  switch (request.kind) {
    case 'manifest':
      return { value: await createManifest(host, serverId) };
    case 'check cpu':
      return { value: await findCpuObstacle(host, validateCpu(request.cpu)) };
    case 'file':
      return openFile(host, serverId, request.name);
    case 'disks':
      return { stream: await connectSocket(folder.file('export')) };
    case 'memory':
      return { stream: await connectSocket(folder.file('moving')) };
    case 'remove disks before':
      return { value: await removeDiskSnapshots(host, serverId, signal) };
    case 'complete arrival':
      return { value: await completeArrival(host, request) };
  }
}
