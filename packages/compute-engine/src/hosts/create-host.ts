import { randomUUID } from 'node:crypto';
import { embeddedCatalogs } from '@apistrata/catalogs/builtin';
import type { Store } from '@apistrata/record-store';
import { systemClock } from '../clock/clock.js';
import { closeInOrder } from '../core/close-in-order.js';
import { machinesHealth, type PartHealth } from '../core/part-health.js';
import type { Driver } from '../drivers/driver.js';
import { driverVerbs } from '../drivers/driver-verbs.js';
import type { HostLinks } from '../drivers/host-links.js';
import { createLocalMachines } from '../drivers/machines.js';
import { EngineError } from '../errors/engine-error.js';
import { openStore } from '../schema/open-store.js';
import { createHostSealer } from '../secrets/sealer-for.js';
import { ComputerReader } from './computer-figures.js';
import { createHostPowerWatch } from './follow-power.js';
import { GuestReader } from './guest-statistics.js';
import type { HostStatistics } from './host-figures.js';
import { HostLease } from './host-lease.js';
import { checkHostOptions, type HostOptions } from './host-options.js';
import { HostProgram } from './host-program.js';
import { HostRequestWorker } from './host-request-worker.js';
import { HostRequests } from './host-requests.js';
import { HostLinkClient } from './links/host-link-client.js';
import { createHostFinder } from './links/known-hosts.js';
import { createLinkFinder, createLinkHandler, createStorageFinder, type LinkRequest } from './links/link-request.js';
import { HostLinkKeys } from './links/link-security.js';
import { LinkServer } from './links/link-server.js';
import { MachineFence } from './machine-fence.js';
import { detectResources, type HostResources } from './machine-resources.js';
import { OrphanedMachines } from './orphaned-machines.js';
import { ownAddress } from './own-address.js';
import { registerHost } from './register-host.js';
import { ReportWatch } from './report-watch.js';
import { createVolumeHostFinder } from './volumes/volume-hosts.js';

/** Health checks of a host's parts. */
export interface HostHealth {
  /** Checks that the host has recently stored a heartbeat, so that other processes do not consider it down. */
  heartbeat(): Promise<PartHealth>;
  /** Checks that servers can start on this computer. */
  machines(): Promise<PartHealth>;
}

/** A running host. */
export interface Host {
  readonly name: string;
  /** The capacity that the host offers to servers. Memory is in MiB, disk in GiB. */
  readonly resources: HostResources;
  /** Checks of the host, for health endpoints. Each call executes the check again and never rejects. */
  readonly health: HostHealth;
  /** Figures of the host and its guests, for metrics. */
  readonly statistics: HostStatistics;
  /**
   * Stops the host and releases its lease. Machines that can outlive the process continue to run, and the next process
   * with this name takes them over.
   */
  stop(): Promise<void>;
}

/** Thrown by `createHost()` if another live process is already the host with the same name. */
export class HostInUse extends EngineError<'HOST_IN_USE'> {
  constructor(host: string) {
    super('HOST_IN_USE', `another process is already running as host ${host}: stop it, or choose another name`);
  }
}

const DEFAULT_RESERVED = { vcpus: 0, memoryMb: 512, diskGb: 0 } as const;

async function resolveResources({ resources = {}, reserved, directory = '.' }: HostOptions): Promise<HostResources> {
  const totalResources = await detectResources(directory);
  const reservedResources = { ...DEFAULT_RESERVED, ...reserved };
  const offeredAmount = (kind: keyof HostResources) =>
    resources[kind] ?? Math.max(1, totalResources[kind] - reservedResources[kind]);
  return { vcpus: offeredAmount('vcpus'), memoryMb: offeredAmount('memoryMb'), diskGb: offeredAmount('diskGb') };
}

/** Acquires the lease. If a crashed process still has it, waits until it expires. Fails if a live process renews it. */
async function acquireLease(lease: HostLease, name: string, leaseMs: number): Promise<void> {
  for (const deadline = Date.now() + leaseMs + 1_000; !(await lease.acquire()); ) {
    if (Date.now() > deadline) throw new HostInUse(name);
    await new Promise((resolve) => setTimeout(resolve, Math.min(200, leaseMs / 5)));
  }
}

/** Returns the links through which a driver sends requests to other hosts. */
function createHostLinks(
  store: Store,
  linkClient: HostLinkClient,
  ownLinks: Pick<HostLinks, 'self' | 'address' | 'all'>,
): HostLinks {
  const createDriverRequest = (call: unknown): LinkRequest => ({ kind: 'driver', call });
  return {
    ...ownLinks,
    volumeHost: createVolumeHostFinder(store),
    storageOf: createStorageFinder(store),
    request: (host, request, signal) => linkClient.request(host, createDriverRequest(request), signal),
    read: (host, request, signal) => linkClient.read(host, createDriverRequest(request), signal),
    connect: (host, request, signal) => linkClient.connect(host, createDriverRequest(request), signal),
  };
}

async function openLinkServer(links: LinkServer, address: string, port: number): Promise<number> {
  try {
    return await links.open(address, port);
  } catch (error) {
    throw new TypeError(
      `createHost(): cannot listen on ${address}, port ${port} (${(error as Error).message}): set address, listen or port`,
      { cause: error },
    );
  }
}

/**
 * Makes this process a host. It registers in the API processes' database, stores heartbeats, and executes the API
 * processes' requests for its servers. Machines outlive the process if the driver supports that. At startup, the host
 * removes resources of servers that were deleted or moved while it was down.
 *
 * @throws TypeError for invalid options
 * @throws {@link HostInUse} if another live process is the host with this name
 * @throws the same errors as `createEngine` if the database or a key cannot be used
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
export async function createHost(hostOptions: HostOptions): Promise<Host> {
  const { database, name, catalogs = {}, imageDirectory, clock = systemClock } = hostOptions;
  const { concurrency, heartbeatMs, leaseMs, serviceDownSeconds, fence } = checkHostOptions(hostOptions);
  const downMs = serviceDownSeconds * 1000;
  const onError = hostOptions.onError ?? (() => {});
  const sealer = await createHostSealer(database, name, hostOptions);
  const resources = await resolveResources(hostOptions);
  const store = await openStore(database, hostOptions, hostOptions.observer);
  const owner = randomUUID();
  const lease = new HostLease(store, { host: name, owner, leaseMs });
  const address = hostOptions.address ?? ownAddress();
  let driver: Driver | undefined;
  let linkServer: LinkServer | undefined;
  try {
    await acquireLease(lease, name, leaseMs);
    const linkKeys = new HostLinkKeys(sealer);
    const linkClient = new HostLinkClient({
      credentials: (_, { publicKey }) => linkKeys.credentialsFor(publicKey),
      find: createLinkFinder(store),
    });
    const services = {
      ...embeddedCatalogs({ store, clock, imageDirectory }),
      ...catalogs,
      hosts: createHostLinks(store, linkClient, {
        self: name,
        address,
        all: createHostFinder(store, clock, serviceDownSeconds),
      }),
    };
    driver = typeof hostOptions.driver === 'function' ? await hostOptions.driver(clock, services) : hostOptions.driver;
    const machines = createLocalMachines(driver);
    const orphans = new OrphanedMachines({ name, store, driver, machines, onError });
    const hostDriver = driver;
    if (fence !== 'off' && !hostDriver.fence)
      throw new TypeError(`createHost(): the driver ${hostDriver.name} does not support fencing`);
    const machineFence = new MachineFence({
      ...{ host: name, action: fence, downMs, store, machines, guard: hostDriver.guard, onError },
      fence: async (...args) => (await hostDriver.fence?.(...args)) ?? [],
    });
    linkServer = new LinkServer({ keys: linkKeys, respond: createLinkHandler(store, hostDriver, name) });
    const port = await openLinkServer(linkServer, hostOptions.listen ?? address, hostOptions.port ?? 0);
    const program = new HostProgram({
      url: database,
      store,
      requests: new HostRequests(store, () => sealer),
      lease,
      owner,
      name,
      work: new HostRequestWorker({ name, store, machines, images: services.images, orphans }),
      orphans,
      register: async (removed, fences) =>
        registerHost(store, {
          seed: { ...hostOptions.resources, ...resources, name },
          offer: hostDriver.offer,
          address,
          now: clock.now(),
          removed,
          report: removed && (await hostDriver.hostReport?.()),
          process: {
            driver: hostDriver.name,
            cannot: driverVerbs.filter((verb) => hostDriver.supports?.(verb) === false),
            canMove: hostDriver.canMove ?? true,
            snapshotFormat: hostDriver.snapshotFormat ?? null,
            link: { address, port, publicKey: linkKeys.publicKey },
            ...(fences && { fences }),
            ...(hostDriver.volumes && { keepsVolumes: true }),
            ...(hostDriver.storage !== undefined && { storage: hostDriver.storage }),
            ...(hostDriver.tunnelPort !== undefined && { tunnelPort: hostDriver.tunnelPort }),
            ...(hostDriver.wireguard && { wireguard: hostDriver.wireguard }),
          },
        }),
      concurrency,
      heartbeatMs,
      leaseMs,
      fence: machineFence,
      downMs,
      onError,
      onLost: hostOptions.onLost ?? (() => {}),
    });
    await program.start();
    const powerWatch = createHostPowerWatch({ store, driver, host: name, onError });
    const reportWatch = new ReportWatch({ store, clock, driver, hosts: async () => [name], onError });
    const guestReader = new GuestReader({ store, driver });
    const computerReader = new ComputerReader();
    powerWatch.start();
    await reportWatch.start();
    return {
      name,
      resources,
      statistics: {
        guests: () => guestReader.read(),
        host: async () => ({
          name,
          computer: await computerReader.read(),
          report: reportWatch.latest.report,
          process: program.figures(),
        }),
      },
      health: { heartbeat: async () => program.health(), machines: () => machinesHealth(hostDriver) },
      stop: () =>
        closeInOrder(
          () => powerWatch.stop(),
          () => reportWatch.stop(),
          () => program.stop(),
          () => linkServer?.close(),
          () => hostDriver.close?.(),
          () => store.close(),
        ),
    };
  } catch (error) {
    // Errors during the cleanup must not hide the startup error.
    await closeInOrder(
      () => lease.release(),
      () => linkServer?.close(),
      () => driver?.close?.(),
      () => store.close(),
    ).catch(() => {});
    throw error;
  }
}
