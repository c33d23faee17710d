import { randomUUID } from 'node:crypto';
import type { Catalogs } from '@apistrata/catalogs';
import { embeddedCatalogs } from '@apistrata/catalogs/builtin';
import type { Store } from '@apistrata/record-store';
import { checkOptions, type DatabaseSettings, defaultDatabaseSettings } from '@apistrata/record-store/options';
import { type Clock, systemClock } from '../clock/clock.js';
import { closeInTurn } from '../core/close-in-turn.js';
import { defaultSettings } from '../core/settings.js';
import type { Driver } from '../drivers/driver.js';
import type { DriverServices } from '../drivers/driver-services.js';
import { driverVerbs } from '../drivers/driver-verbs.js';
import type { HostLinks } from '../drivers/host-links.js';
import { machinesOf } from '../drivers/machines.js';
import { EngineError } from '../errors/engine-error.js';
import type { HostSeed } from '../preset/preset.js';
import { openStore } from '../schema/open-store.js';
import { type SecretKeyOptions, sealerFor } from '../secrets/sealer-for.js';
import { powerWatchOfHost } from './follow-power.js';
import { HostHold } from './host-hold.js';
import { HostOrders } from './host-orders.js';
import { HostProgram } from './host-program.js';
import { HostWork } from './host-work.js';
import { Leftovers } from './leftovers.js';
import { HostCaller } from './links/host-caller.js';
import { HostDoor } from './links/host-door.js';
import { hostFinder } from './links/known-hosts.js';
import {
  hasLinkAnswers,
  type LinkQuestion,
  linkAnswers,
  linkFinder,
  storageFinder,
  volumeHostFinder,
} from './links/link-question.js';
import { linkKeys } from './links/link-security.js';
import { type MachineResources, machineResources, ownAddress } from './machine-resources.js';
import { registerHost } from './register-host.js';

/** What `createHost()` can be told. */
export interface HostOptions extends Partial<DatabaseSettings>, SecretKeyOptions {
  /** `postgres://...`: the database of the API's processes, whose secret key it needs too. */
  readonly database: string;
  /** Name of the host, of its service and of its node: another one for each computer. */
  readonly name: string;
  /** What runs machines on this computer. */
  readonly driver: Driver | ((clock: Clock, services: DriverServices) => Driver | Promise<Driver>);
  /** What the host offers and says of itself; what is left out is found out: cores, memory (MiB) and disk (GiB). */
  readonly resources?: Partial<Omit<HostSeed, 'name'>>;
  /** What is kept back of that for the computer itself. Default: 512 MiB of memory. */
  readonly reserved?: Partial<MachineResources>;
  /** A folder on the disk whose size is that of the host. Default: the working directory. */
  readonly directory?: string;
  /**
   * Address of the host for administrators, and the one at which the cloud's other processes reach it. Default: the first one of
   * the computer that is not internal.
   */
  readonly address?: string;
  /**
   * Port at which they reach it, for machines that move and consoles; default 0: any that is free. What passes is encrypted, and
   * only for those who have the secret key.
   */
  readonly port?: number;
  /** Address to listen at where it is not `address`: behind a translation of addresses, say. */
  readonly listen?: string;
  /** Services that replace embedded ones, as for `createEngine`. */
  readonly catalogs?: Partial<Catalogs>;
  /** Folder of the content of images, as for `createEngine`: shared with it, or left out in both. */
  readonly imageDirectory?: string;
  readonly clock?: Clock;
  /** Orders at once; default 256. */
  readonly concurrency?: number;
  /** How often it gives a sign of life; default 10,000 ms. Services are down without one for `serviceDownSeconds`. */
  readonly heartbeatMs?: number;
  /** How long another process of this name waits for one that died without a word; default 10,000 ms. */
  readonly leaseMs?: number;
  /** After how many seconds without a sign of life another host is down, and its routers are others'. Default 60. */
  readonly serviceDownSeconds?: number;
  /** Told of what went wrong and is tried again. */
  readonly onError?: (error: unknown) => void;
  /** Told when another process has become this host: this one has let go of everything. */
  readonly onLost?: () => void;
}

const options: Readonly<Record<keyof HostOptions, unknown>> = {
  ...defaultDatabaseSettings,
  secretKey: true,
  secretKeyFile: true,
  database: true,
  name: true,
  driver: true,
  resources: true,
  reserved: true,
  directory: true,
  address: true,
  port: true,
  listen: true,
  catalogs: true,
  imageDirectory: true,
  clock: true,
  concurrency: true,
  heartbeatMs: true,
  leaseMs: true,
  serviceDownSeconds: true,
  onError: true,
  onLost: true,
};

/** A host that is up. */
export interface Host {
  readonly name: string;
  /** What it offers to servers. Memory in MiB, disk in GiB. */
  readonly resources: MachineResources;
  /** Lets go of everything. Machines that can go on do, and the next process of this name takes them over. */
  stop(): Promise<void>;
}

/** Another process is the host of this name, and lives. */
export class HostInUse extends EngineError<'HOST_IN_USE'> {
  constructor(host: string) {
    super('HOST_IN_USE', `another process is the host ${host}: end that one, or choose another name`);
  }
}

const DEFAULTS = {
  concurrency: 256,
  heartbeatMs: 10_000,
  leaseMs: 10_000,
  serviceDownSeconds: defaultSettings.serviceDownSeconds,
} as const;
const RESERVED = { vcpus: 0, memoryMb: 512, diskGb: 0 } as const;

async function resourcesOf({ resources = {}, reserved, directory = '.' }: HostOptions): Promise<MachineResources> {
  const found = await machineResources(directory);
  const kept = { ...RESERVED, ...reserved };
  const left = (kind: keyof MachineResources) => resources[kind] ?? Math.max(1, found[kind] - kept[kind]);
  return { vcpus: left('vcpus'), memoryMb: left('memoryMb'), diskGb: left('diskGb') };
}

/** Waits for a process that may have died: its lease runs out. One that lives renews it. */
async function become(hold: HostHold, name: string, leaseMs: number): Promise<void> {
  for (const deadline = Date.now() + leaseMs + 1_000; !(await hold.take()); ) {
    if (Date.now() > deadline) throw new HostInUse(name);
    await new Promise((resolve) => setTimeout(resolve, Math.min(200, leaseMs / 5)));
  }
}

/** What a driver asks of others, it asks by this. */
function linksOf(store: Store, caller: HostCaller, own: Pick<HostLinks, 'self' | 'address' | 'all'>): HostLinks {
  return {
    ...own,
    volumeHost: volumeHostFinder(store),
    storageOf: storageFinder(store),
    ask: (host, question, signal) => {
      const asked: LinkQuestion = { kind: 'driver', question };
      return caller.ask(host, asked, signal);
    },
  };
}

/** What a volume holds is in one place. */
async function checkVolumeHost(store: Store, name: string): Promise<void> {
  const keeper = await volumeHostFinder(store)();
  if (keeper !== null && keeper !== name)
    throw new TypeError(
      `createHost(): the host ${keeper} keeps the volumes of this cloud, and one host does: give a driver that keeps none`,
    );
}

async function openDoor(door: HostDoor | undefined, address: string, port: number): Promise<number | undefined> {
  try {
    return await door?.open(address, port);
  } catch (error) {
    throw new TypeError(
      `createHost(): nobody can be heard at ${address}, port ${port} (${(error as Error).message}): give address, listen or port`,
      { cause: error },
    );
  }
}

/**
 * Makes this process a host: it makes itself known to the API's processes by their database, gives signs of life, and does
 * what they order for servers of its own. Machines outlive it if its driver's do. What was left of servers that have gone
 * while it was away is removed first.
 *
 * Throws TypeError for options that cannot be, {@link HostInUse}, and what `createEngine` throws for databases and keys.
 *
 * @example
 * ```ts
 * import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
 * import { createHost } from '@apistrata/compute-engine/hosts';
 *
 * const host = await createHost({
 *   database: 'postgres://cloud@db.example.org/cloud',
 *   secretKeyFile: '/etc/cloud/secret.key',
 *   name: 'h2',
 *   driver: (clock) => new SimulatedDriver({ clock }),
 * });
 * await host.stop();
 * ```
 */
export async function createHost(given: HostOptions): Promise<Host> {
  checkOptions('createHost()', given, options);
  const { database, name, catalogs = {}, imageDirectory, clock = systemClock } = given;
  if (!/^postgres(ql)?:\/\//.test(database))
    throw new TypeError(
      'createHost(): hosts of their own need a PostgreSQL database (postgres://...): a SQLite file belongs to the one process that serves the API, which runs its machines itself',
    );
  if (!/^[\w.-]{1,255}$/.test(name ?? ''))
    throw new TypeError('createHost(): a name has 1 to 255 letters, digits, dots, dashes and underscores');
  const { concurrency, heartbeatMs, leaseMs, serviceDownSeconds } = { ...DEFAULTS, ...given };
  const onError = given.onError ?? (() => {});
  const sealer = await sealerFor(database, given);
  const resources = await resourcesOf(given);
  const store = await openStore(database, given);
  const owner = randomUUID();
  const hold = new HostHold(store, { host: name, owner, leaseMs });
  const address = given.address ?? ownAddress();
  let driver: Driver | undefined;
  let door: HostDoor | undefined;
  try {
    await become(hold, name, leaseMs);
    const keys = sealer && linkKeys(sealer);
    const services = {
      ...embeddedCatalogs({ store, clock, imageDirectory }),
      ...catalogs,
      hosts:
        keys &&
        linksOf(store, new HostCaller({ keys, find: linkFinder(store) }), {
          self: name,
          address,
          all: hostFinder(store, clock, serviceDownSeconds),
        }),
    };
    driver = typeof given.driver === 'function' ? await given.driver(clock, services) : given.driver;
    const machines = machinesOf(driver);
    const leftovers = new Leftovers({ name, store, driver, machines, onError });
    const able = driver;
    door = keys && hasLinkAnswers(able) ? new HostDoor({ keys, answer: linkAnswers(store, able) }) : undefined;
    if (able.volumes) await checkVolumeHost(store, name);
    const port = await openDoor(door, given.listen ?? address, given.port ?? 0);
    const program = new HostProgram({
      url: database,
      store,
      orders: new HostOrders(store, sealer),
      hold,
      owner,
      name,
      work: new HostWork({ name, store, machines, images: services.images, leftovers }),
      leftovers,
      register: (started) =>
        registerHost(store, {
          seed: { ...given.resources, ...resources, name },
          address,
          now: clock.now(),
          started,
          process: {
            driver: able.name,
            cannot: driverVerbs.filter((verb) => able.supports?.(verb) === false),
            canMove: able.canMove ?? true,
            snapshotFormat: able.snapshotFormat ?? null,
            ...(port === undefined ? {} : { link: { address, port } }),
            ...(able.volumes && { keepsVolumes: true }),
            ...(able.storage !== undefined && { storage: able.storage }),
            ...(able.tunnelPort !== undefined && { tunnelPort: able.tunnelPort }),
          },
        }),
      concurrency,
      heartbeatMs,
      leaseMs,
      onError,
      onLost: given.onLost ?? (() => {}),
    });
    await program.start();
    const powerWatch = powerWatchOfHost({ store, sealer, driver, host: name, onError });
    powerWatch.start();
    return {
      name,
      resources,
      stop: () =>
        closeInTurn(
          () => powerWatch.stop(),
          () => program.stop(),
          () => door?.close(),
          () => able.close?.(),
          () => store.close(),
        ),
    };
  } catch (error) {
    // What was in the way of the start is told, not what was in the way of the end.
    await closeInTurn(
      () => hold.release(),
      () => door?.close(),
      () => driver?.close?.(),
      () => store.close(),
    ).catch(() => {});
    throw error;
  }
}
