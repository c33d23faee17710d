import { Readable } from 'node:stream';
import type { Caller, VolumeStorage } from '@apistrata/catalogs';
import type { Store } from '@apistrata/record-store';
import type { Driver } from '../../drivers/driver.js';
import type { LinkAnswer } from '../../drivers/host-links.js';
import { tables } from '../../schema/tables.js';
import { failedWith } from '../host-question.js';
import { linkLine } from './link-line.js';

/** What is asked over a link. Whatever has to be done even when the host is away just now is an order instead. */
export type LinkQuestion =
  | { readonly kind: 'console'; readonly serverId: string; readonly type: string }
  /** The embedded volume service tells what becomes of volumes: a method of `VolumeStorage`, and what it is given. */
  | { readonly kind: 'volumes'; readonly call: keyof VolumeStorage; readonly given: readonly unknown[] }
  /** A driver asks that of another host. */
  | { readonly kind: 'driver'; readonly question: unknown };

/** Where hosts are reached. They say so themselves whenever they start. */
export function linkFinder(store: Store) {
  return async (host: string) => {
    const [node] = await tables.nodes.find(store, (q) => q.where('host', '=', host));
    return node?.process?.link;
  };
}

/** Finds the host that keeps volumes. */
export function volumeHostFinder(store: Store) {
  return async (): Promise<string | null> => {
    const nodes = await tables.nodes.find(store, (q) => q.orderBy('host'));
    return nodes.find(({ process }) => process?.keepsVolumes)?.host ?? null;
  };
}

/** Finds the storage that a host shares with others. */
export function storageFinder(store: Store) {
  return async (host: string): Promise<string | null> => {
    const [node] = await tables.nodes.find(store, (q) => q.where('host', '=', host));
    if (!node) throw new Error(`there is no host ${host}`);
    return node.process?.storage ?? null;
  };
}

/** Whether there is anything that a driver could be asked over a link. */
export function hasLinkAnswers(driver: Driver): boolean {
  return driver.answer !== undefined || driver.openConsole !== undefined || driver.volumes !== undefined;
}

type NewContent = Parameters<VolumeStorage['create']>[1];

/** Content takes its time: it is answered when what it is made of may change again, and another line follows when it is there. */
async function creating(volumes: VolumeStorage, caller: Caller, volume: NewContent): Promise<LinkAnswer> {
  let made: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    made = volumes.create(caller, volume, resolve);
    made.then(resolve, reject);
  });
  async function* outcome() {
    yield linkLine(await made.then(() => ({ value: null }), failedWith));
  }
  return { stream: Readable.from(outcome()) };
}

/** Answers by a driver what is asked of its host. */
export function linkAnswers(store: Store, driver: Driver) {
  return async (asked: LinkQuestion, signal: AbortSignal): Promise<LinkAnswer> => {
    if (asked.kind === 'driver' && driver.answer) return driver.answer(asked.question, signal);
    if (asked.kind === 'console' && driver.openConsole) {
      const server = await tables.servers.get(store, asked.serverId);
      if (!server) throw new Error(`there is no server ${asked.serverId}`);
      return { stream: await driver.openConsole(server, asked.type) };
    }
    if (asked.kind === 'volumes' && driver.volumes) {
      if (asked.call === 'create')
        return creating(driver.volumes, ...(asked.given as [caller: Caller, volume: NewContent]));
      const call = driver.volumes[asked.call] as (...given: readonly unknown[]) => Promise<unknown>;
      return { value: await call.apply(driver.volumes, asked.given as unknown[]) };
    }
    throw new Error(`this host has no answer to the question ${asked.kind}`);
  };
}
