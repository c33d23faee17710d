import type { Catalogs } from '@apistrata/catalogs';
import { type EmbeddedCatalogs, embeddedCatalogs } from '@apistrata/catalogs/builtin';
import type { SqlDatabase } from '@apistrata/quota/sql';
import { isSqliteFile } from '@apistrata/record-store';
import { cleanupsByKind, mergeCustomActions } from '../actions/action-table.js';
import { ActionRunner } from '../actions/runner/action-runner.js';
import { type Clock, systemClock } from '../clock/clock.js';
import { closeInOrder } from '../core/close-in-order.js';
import type { Core } from '../core/core.js';
import { defaultSettings, type Settings } from '../core/settings.js';
import type { Driver } from '../drivers/driver.js';
import { createLocalMachines, observeMachines } from '../drivers/machines.js';
import { SimulatedDriver } from '../drivers/simulated.js';
import { EngineEvents, type EventListener } from '../events/engine-events.js';
import { distributedMachines } from '../hosts/distributed-machines.js';
import { HostRequests } from '../hosts/host-requests.js';
import { HostRpcClient } from '../hosts/host-rpc-client.js';
import { hostTunnels } from '../hosts/host-tunnels.js';
import { Hosts } from '../hosts/inventory/hosts.js';
import { Hypervisors } from '../hosts/inventory/hypervisors.js';
import { Services } from '../hosts/inventory/services.js';
import { HostLinkClient } from '../hosts/links/host-link-client.js';
import { createLinkFinder } from '../hosts/links/link-request.js';
import { apiCredentials } from '../hosts/links/link-security.js';
import { createRemoteVolumeStorage } from '../hosts/volumes/remote-volume-storage.js';
import { Guards } from '../jobs/guards.js';
import { Jobs } from '../jobs/jobs.js';
import { Payloads } from '../jobs/payloads.js';
import { Worker, workerDefaults } from '../jobs/worker.js';
import { PeriodicTasks } from '../maintenance/periodic-tasks.js';
import type { Caller } from '../model/index.js';
import { combineObservers } from '../observation/observer.js';
import { applyPreset } from '../preset/apply-preset.js';
import { defaultPreset, type Preset } from '../preset/preset.js';
import { Aggregates } from '../resources/aggregates.js';
import { AvailabilityZones } from '../resources/availability-zones.js';
import type { Flavors } from '../resources/flavors/flavors.js';
import type { Keypairs } from '../resources/keypairs.js';
import { quotaDatabase } from '../resources/quotas/quota-database.js';
import type { Quotas } from '../resources/quotas/quotas.js';
import type { ServerGroups } from '../resources/server-groups.js';
import type { Usage } from '../resources/usage/usage.js';
import { UsageAudit } from '../resources/usage/usage-audit.js';
import { PeriodicPurge } from '../retention/periodic-purge.js';
import { Retention } from '../retention/retention.js';
import { Infrastructure } from '../scheduler/infrastructure.js';
import { formatCorrection, recountHosts } from '../scheduler/recount.js';
import { openStore } from '../schema/open-store.js';
import { createHostSealers, createSealer } from '../secrets/sealer-for.js';
import type { Migrations } from '../server-migrations/migrations.js';
import type { InstanceActions } from '../servers/action-history/instance-actions.js';
import { Consoles } from '../servers/consoles.js';
import { ExternalEvents } from '../servers/external-events.js';
import { InterfaceRefresh } from '../servers/interfaces/interface-refresh.js';
import type { Interfaces } from '../servers/interfaces/interfaces.js';
import type { ServerNetwork } from '../servers/interfaces/server-network.js';
import type { Servers } from '../servers/servers.js';
import { Shares } from '../servers/shares/shares.js';
import type { ServerMetadata } from '../servers/update/metadata.js';
import type { ServerTags } from '../servers/update/tags.js';
import { AssistedSnapshots } from '../servers/volumes/assisted-snapshots.js';
import type { VolumeAttachments } from '../servers/volumes/volume-attachments.js';
import { createDriverWatches } from './driver-watches.js';
import { registerCore } from './engine-core.js';
import { type EngineOptions, observersOf } from './engine-options.js';
import { type EngineHealth, engineHealth } from './health.js';
import { createProjectServices } from './project-services.js';
import { createEngineSelector } from './reading-engine.js';
import { Statistics } from './statistics.js';

/** A compute service without HTTP. */
export interface Engine {
  /**
   * Returns the engine to use for a read-only request. With `databaseRead`, that engine may read from a replica that
   * already contains all writes for the caller's project and user. Without replicas, or if none is current enough,
   * returns this engine. Call this for every request, and do not use the result to change anything or to decide on a
   * change.
   *
   * @example const servers = await (await engine.reading(caller)).servers.list(context, { limit: 10 })
   */
  reading(caller: Pick<Caller, 'projectId' | 'userId'>): Engine | Promise<Engine>;
  /** The clock that all parts of the engine use. */
  readonly clock: Clock;
  /** The image, network, volume and share services that the engine calls. */
  readonly catalogs: Catalogs;
  /** The settings, with defaults applied. */
  readonly settings: Settings;
  /** The embedded catalogs in the engine's database, including the operations that their own APIs need. */
  readonly embedded: EmbeddedCatalogs;
  readonly servers: Servers;
  readonly migrations: Migrations;
  readonly periodicTasks: PeriodicTasks;
  /** Purges records whose retention period has ended. A running worker does so once an hour. */
  readonly retention: Retention;
  readonly flavors: Flavors;
  readonly keypairs: Keypairs;
  readonly serverGroups: ServerGroups;
  readonly aggregates: Aggregates;
  readonly services: Services;
  readonly hypervisors: Hypervisors;
  readonly hosts: Hosts;
  readonly zones: AvailabilityZones;
  readonly instanceActions: InstanceActions;
  readonly quotas: Quotas;
  readonly usage: Usage;
  readonly serverMetadata: ServerMetadata;
  readonly serverTags: ServerTags;
  readonly volumeAttachments: VolumeAttachments;
  readonly interfaces: Interfaces;
  readonly serverNetwork: ServerNetwork;
  readonly interfaceRefresh: InterfaceRefresh;
  readonly serverShares: Shares;
  readonly consoles: Consoles;
  readonly externalEvents: ExternalEvents;
  readonly usageAudit: UsageAudit;
  readonly assistedSnapshots: AssistedSnapshots;
  /** The engine's database, for project quotas that are stored with `sqlStore({ database })`. */
  readonly quotaDatabase: SqlDatabase;
  /** Stored notifications, for readers of the event stream; see the option `events`. */
  readonly events: Pick<EngineEvents, 'deadLetters' | 'endReading' | 'isRetained' | 'read'>;
  /**
   * Subscribes to changes that this process has committed: state changes, the start, end and failure of actions, and
   * quota rejections. `*` in a type is a wildcard. Returns a function that unsubscribes.
   *
   * @example engine.on('instance.*.error', ({ payload }) => console.error(payload))
   */
  on(type: string, listener: EventListener): () => void;
  /** Counts of records, for metrics. */
  readonly statistics: Statistics;
  /** Health of the database and of background jobs, for health endpoints. */
  readonly health: EngineHealth;
  /**
   * For tests and scripts: resolves when this process has executed all jobs that it can currently execute. Jobs that
   * wait for the clock, a retry or another process are ignored.
   */
  idle(): Promise<void>;
  /** Stops background jobs at points from which they can be resumed, and closes the database. */
  close(): Promise<void>;
}

async function resolveDriver(
  options: EngineOptions,
  clock: Clock,
  catalogs: Catalogs,
  preset: Preset,
): Promise<Driver> {
  const { driver } = options;
  if (typeof driver === 'function') return driver(clock, catalogs);
  return driver ?? new SimulatedDriver({ clock, rules: preset.rules });
}

/** Creates an engine from validated options; see `createEngine()`. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  // Only a user-defined preset needs validation; without one, the schema is never loaded.
  const preset = options.preset
    ? (await import('../preset/parse-preset.js')).parsePreset(options.preset)
    : defaultPreset;
  const clock = options.clock ?? systemClock;
  const database = options.database ?? ':memory:';
  const allActions = mergeCustomActions(options.actions ?? []);
  const sealer = await createSealer(database, options);
  const observer = combineObservers([
    ...observersOf(options),
    { overQuota: (rejection) => events.emitRejection(rejection) },
  ]);
  const store = await openStore(database, options, observer);
  const onError = (error: unknown) => options.onError?.(error, undefined);
  const events = new EngineEvents(store, clock, options.events, onError, observer);
  const settings: Settings = {
    ...defaultSettings,
    ...options.settings,
    quotas: { ...defaultSettings.quotas, ...options.settings?.quotas },
  };
  const actionRunner = new ActionRunner(() => core, allActions, cleanupsByKind);
  const keepTokens = Object.values(options.catalogs ?? {}).some(Boolean);
  const jobs = new Jobs(store, new Payloads(sealer, { keepTokens }));
  const worker = new Worker({
    ...(options.worker || {}),
    store,
    jobs,
    run: (job, signal) => actionRunner.run(job, signal),
    observer,
    onError: options.onError ?? (() => {}),
  });
  const embedded = embeddedCatalogs({
    store,
    clock,
    unknown: preset.unknown,
    imageDirectory: options.imageDirectory ?? (isSqliteFile(database) ? `${database}.images` : undefined),
    onServerPortsChanged: (serverId) => interfaceRefresh.changed(serverId),
    hostTunnels,
    onVolumeExtended: (serverId, volumeId) => externalEvents.reportVolumeExtended(serverId, volumeId),
    volumeStorage: () => driver.volumes ?? remoteVolumes,
    seal: sealer,
  });
  const catalogs = { ...embedded, ...options.catalogs };
  const driver = await resolveDriver(options, clock, catalogs, preset).catch(async (error) => {
    await store.close();
    throw error;
  });
  const infrastructure = new Infrastructure(store, clock, settings);
  const local = createLocalMachines(driver);
  // Host processes require a database that several processes can share.
  const rpcClient =
    store.kind === 'postgres'
      ? new HostRpcClient(database, store, new HostRequests(store, createHostSealers(sealer)))
      : undefined;
  const linkClient =
    sealer &&
    new HostLinkClient({ credentials: (host) => apiCredentials(sealer, host), find: createLinkFinder(store) });
  const remoteVolumes =
    rpcClient && linkClient && createRemoteVolumeStorage({ linkClient, store, clock, infrastructure });
  const machines =
    rpcClient && linkClient ? distributedMachines(local, { rpcClient, linkClient, infrastructure }) : local;
  const core: Core = {
    store,
    clock,
    driver,
    machines: observeMachines(machines, observer),
    catalogs,
    worker,
    guards: new Guards(jobs, { ...workerDefaults, ...(options.worker || {}) }),
    infrastructure,
    settings,
    observer,
    events,
  };
  const interfaceRefresh = new InterfaceRefresh(core);
  const projectServices = createProjectServices(core, interfaceRefresh);
  const { servers } = projectServices;
  const externalEvents = new ExternalEvents(core, servers, interfaceRefresh);
  const services = new Services(core);
  const periodicTasks = new PeriodicTasks(core, servers);
  const retention = new Retention(core);
  const periodicPurge = new PeriodicPurge(retention, clock, async () => {
    if (catalogs.volumes === embedded.volumes) await embedded.volumes.cleanUpStorage();
    for (const correction of await recountHosts(store)) onError(new Error(formatCorrection(correction)));
  });
  const watches = createDriverWatches(core, onError);
  const close = () =>
    closeInOrder(
      () => watches.stop(),
      () => periodicTasks.stop(),
      () => periodicPurge.stop(),
      () => core.guards.stop(),
      () => worker.stop(),
      () => interfaceRefresh.idle(),
      () => events.stop(),
      () => rpcClient?.stop(),
      () => driver.close?.(),
      () => store.close(),
    );
  try {
    await applyPreset(store, clock, embedded, preset, driver.offer);
    await events.start();
    if (options.worker !== false) {
      await worker.start();
      await services.begin();
      await watches.start();
      periodicTasks.start(onError);
      periodicPurge.start(onError);
    }
  } catch (error) {
    // Errors during the cleanup must not hide the startup error.
    await close().catch(() => {});
    throw error;
  }
  const engine: Engine = {
    clock,
    catalogs: core.catalogs,
    settings,
    embedded,
    quotaDatabase: quotaDatabase(store),
    ...projectServices,
    reading: (caller) => readingFor(caller),
    periodicTasks,
    retention,
    aggregates: new Aggregates(core),
    services,
    hypervisors: new Hypervisors(core),
    hosts: new Hosts(core),
    zones: new AvailabilityZones(core),
    interfaceRefresh,
    serverShares: new Shares(),
    consoles: new Consoles(core),
    externalEvents,
    usageAudit: new UsageAudit(core),
    assistedSnapshots: new AssistedSnapshots(core),
    statistics: new Statistics(core, watches),
    events,
    on: (type, listener) => events.on(type, listener),
    health: engineHealth(core),
    idle: () => worker.idle(),
    close,
  };
  const readingFor: Engine['reading'] = store.replicas
    ? createEngineSelector(engine, core, store.replicas)
    : () => engine;
  registerCore(engine, core);
  return engine;
}
