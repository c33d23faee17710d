import { createWriteStream } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Server } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import { ownerOf } from '../images/image-cache.js';
import type { MachineStory } from './machine-story.js';
import { askHost, askValue, CutOff, untilReached } from './questions.js';

/** A machine of another host. */
export interface FarMachine {
  readonly host: Host;
  readonly server: Server;
  readonly sourceHost: string;
  readonly signal: AbortSignal;
  /** Whether it is waited for the other host while that is away: the machine is nowhere else to be had. */
  readonly waits?: boolean;
}

function patiently<T>({ waits = false, signal }: FarMachine, ask: () => Promise<T>): Promise<T> {
  return waits ? untilReached(ask, signal) : ask();
}

export function askStory(far: FarMachine): Promise<MachineStory> {
  const { host, server, sourceHost, signal } = far;
  return patiently(far, () => askValue(host, sourceHost, { ask: 'story', serverId: server.id }, signal));
}

/** Errors of connections, whoever has cut them. */
const CUTS: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'];

/** Brings a file of a machine here, whole or not at all. */
export function fetchFile(far: FarMachine, name: string, target: string): Promise<void> {
  return patiently(far, () => fetchOnce(far, name, target));
}

async function fetchOnce(
  { host, server, sourceHost, signal }: FarMachine,
  name: string,
  target: string,
): Promise<void> {
  const { value, stream } = await askHost(host, sourceHost, { ask: 'file', serverId: server.id, name }, signal);
  const draft = `${target}.new`;
  await rm(draft, { force: true });
  const what = `${name} of ${sourceHost}`;
  await pipeline(stream, createWriteStream(draft, { mode: 0o600 }), { signal }).catch((cause) => {
    throw CUTS.includes(cause.code) ? new CutOff(what, { cause }) : cause;
  });
  const { bytes } = value as { bytes: number };
  if ((await stat(draft)).size !== bytes) throw new CutOff(what);
  await host.machine(server).folder.give(draft);
  await rename(draft, target);
}

/** What a machine needs beside its disks, and the image that its root disk leans on: from the image service, where that has it. */
export async function fetchCompanions(far: FarMachine, { base, files }: MachineStory): Promise<void> {
  const { host, server, signal } = far;
  const { folder } = host.machine(server);
  for (const name of files) await fetchFile(far, name, folder.file(name));
  if (!base) return;
  if (base.imageId !== null && (await imageIsThere(far, base.imageId, base.bytes, signal)))
    await writeFile(folder.file('rootImage'), base.imageId);
  else await fetchFile(far, 'rootBase', folder.file('rootBase'));
}

async function imageIsThere(
  { host, server }: FarMachine,
  imageId: string,
  bytes: number,
  signal: AbortSignal,
): Promise<boolean> {
  const base = host.machine(server).folder.file('rootBase');
  try {
    return (await host.disks.cache.put(ownerOf(server), imageId, base, bytes, signal)) === bytes;
  } catch {
    signal.throwIfAborted();
    // The image has been deleted, and servers that were made of it go on without.
    return false;
  }
}
