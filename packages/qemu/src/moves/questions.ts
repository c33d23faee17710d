import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenLink } from '@apistrata/compute-engine/drivers';
import type { Host } from '../host.js';
import { QemuError } from '../qemu-error.js';
import type { VolumeUser } from '../volumes/volume-access.js';

/** What hosts ask each other. */
export type HostQuestion =
  /** What a machine is; then the files that it needs. */
  | { readonly ask: 'story'; readonly serverId: string }
  | { readonly ask: 'file'; readonly serverId: string; readonly name: string }
  /** The way to the disks (NBD) and the memory of a machine that waits for them. */
  | { readonly ask: 'disks' | 'memory'; readonly serverId: string }
  /** A volume for a server of the host that asks: the name of its content; then the way to that (NBD). */
  | { readonly ask: 'open volume'; readonly user: VolumeUser; readonly volumeId: string }
  | { readonly ask: 'close volume'; readonly userId: string; readonly volumeId: string }
  | { readonly ask: 'volume'; readonly content: string; readonly userId: string }
  /** A move has been confirmed: disks that both hosts share need not keep any more how they were. */
  | { readonly ask: 'forget before'; readonly serverId: string }
  /** Everything is on its way: may the machine go on there? Its console is still to be had here. */
  | { readonly ask: 'arrive'; readonly serverId: string; readonly sourceHost: string; readonly going: boolean };

/** Asks another host. @throws what it threw, HostUnreachable, and the signal's reason */
export async function askHost(
  host: Host,
  name: string,
  question: HostQuestion,
  signal: AbortSignal,
): Promise<OpenLink> {
  const { hosts } = host.parts.services;
  if (!hosts || name === hosts.self) throw new QemuError('NOT_POSSIBLE', `the host ${name} is not another one`);
  return hosts.ask(name, question, signal);
}

const AGAIN_MS = 500;

/** What came from another host has broken off. */
export class CutOff extends QemuError {
  constructor(what: string, options?: ErrorOptions) {
    super('MOVE_FAILED', `${what} did not come as a whole`, options);
  }
}

/** Asks another host as often as it takes: its program, or the network, may be away for a while. What it refuses is thrown. */
export async function untilReached<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CutOff) && (error as { code?: string }).code !== 'HOST_UNREACHABLE') throw error;
    }
    await sleep(AGAIN_MS, undefined, { signal });
  }
}

/** Asks another host for a value only. */
export async function askValue<T>(host: Host, name: string, question: HostQuestion, signal: AbortSignal): Promise<T> {
  const { value, stream } = await askHost(host, name, question, signal);
  stream.destroy();
  return value as T;
}
