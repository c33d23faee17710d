import type { Catalogs } from '@apistrata/catalogs';
import { type EmbeddedCatalogs, embeddedCatalogs } from '@apistrata/catalogs/builtin';
import type { SqlDatabase } from '@apistrata/quota/sql';
import { isSqliteFile } from '@apistrata/record-store';
import { actionsByName, cleanups } from '../actions/action-table.js';
import type { AnyAction } from '../actions/runner/action.js';
import { ActionRunner } from '../actions/runner/action-runner.js';
import { type Clock, systemClock } from '../clock/clock.js';
import type { Core } from '../core/core.js';
import { defaultSettings, type Settings } from '../core/settings.js';
import type { Driver } from '../drivers/driver.js';
import { machinesOf, observedMachines } from '../drivers/machines.js';
import { SimulatedDriver } from '../drivers/simulated.js';
import { EngineEvents, type EventListener } from '../events/engine-events.js';
import { followPowerJob } from '../hosts/follow-power.js';
import { HostDesk } from '../hosts/host-desk.js';
import { HostOrders } from '../hosts/host-orders.js';
import { Hosts } from '../hosts/inventory/hosts.js';
import { Hypervisors } from '../hosts/inventory/hypervisors.js';
import { Services } from '../hosts/inventory/services.js';
import { HostCaller } from '../hosts/links/host-caller.js';
import { linkFinder, volumeHostFinder } from '../hosts/links/link-question.js';
import { linkKeys } from '../hosts/links/link-security.js';
import { volumesOfHosts } from '../hosts/links/volumes-of-hosts.js';
import { machinesOfHosts } from '../hosts/machines-of-hosts.js';
import { PowerWatch } from '../hosts/power-watch.js';
import { tunnelAddresses } from '../hosts/tunnel-addresses.js';
import { Guards } from '../jobs/guards.js';
import { Jobs } from '../jobs/jobs.js';
import { Payloads } from '../jobs/payloads.js';
import { Worker, workerDefaults } from '../jobs/worker.js';
import { Housekeeping } from '../maintenance/housekeeping.js';
import type { Caller } from '../model/index.js';
import { observedBy } from '../observation/observer.js';
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
import { correctionText, recountHosts } from '../scheduler/recount.js';
import { openStore } from '../schema/open-store.js';
import { sealerFor } from '../secrets/sealer-for.js';
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
import { keepCore } from './engine-core.js';
import { type EngineOptions, observersOf } from './engine-options.js';
import { type EngineHealth, engineHealth } from './health.js';
import { projectServices } from './project-services.js';
import { readingEngines } from './reading-engine.js';
import { Statistics } from './statistics.js';

/** A compute service: everything but HTTP. */
export interface Engine {
  /**
   * The engine for a request that only reads. With `databaseRead` it may read from a replica, which has all that was written
   * for the caller's project and user by then; without, and whenever no replica has that, it is this engine itself. To be asked for
   * anew for each request, and for none that changes anything or decides on a change.
   *
   * @example const servers = await (await engine.reading(caller)).servers.list(context, { limit: 10 })
   */
  reading(caller: Pick<Caller, 'projectId' | 'userId'>): Engine | Promise<Engine>;
  /** The time that everything goes by. */
  readonly clock: Clock;
  /** The image, network, volume and share services that the engine asks. */
  readonly catalogs: Catalogs;
  /** The settings with their defaults. */
  readonly settings: Settings;
  /** The catalogs kept in the engine's own database, with the verbs that their own services need. */
  readonly embedded: EmbeddedCatalogs;
  readonly servers: Servers;
  readonly migrations: Migrations;
  readonly housekeeping: Housekeeping;
  /** Removes what has been kept for long enough; while a worker runs, once an hour by itself. */
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
  /** The engine's database, for `sqlStore({ database })` of the project quotas. */
  readonly quotaDatabase: SqlDatabase;
  /** What has happened, for readers: see the option `events`. */
  readonly events: Pick<EngineEvents, 'kept' | 'read' | 'endReading'>;
  /**
   * Hears of what this process has done, once it is durable: changes of state, actions that begin, end and fail, quota
   * refusals. `*` in a type stands for anything. Gives what ends it.
   *
   * @example engine.on('instance.*.error', ({ payload }) => console.error(payload))
   */
  on(type: string, hear: EventListener): () => void;
  /** How much there is, for metrics. */
  readonly statistics: Statistics;
  /** Whether the database takes changes and background work gets done, for health endpoints. */
  readonly health: EngineHealth;
  /**
   * Resolves when no work is left that this process could do now, for tests and scripts. Work that waits for the clock,
   * for another try or for another process is not waited for.
   */
  idle(): Promise<void>;
  /** Ends background work where it can go on later, and closes the database. */
  close(): Promise<void>;
}

/** The actions of the API and those of the engine's owner; a name stands for one of them. */
function withOwn(own: readonly AnyAction[]): ReadonlyMap<string, AnyAction> {
  const all = new Map(actionsByName);
  for (const record of own) {
    if (all.has(record.name)) throw new TypeError(`createEngine(): there is an action "${record.name}" already`);
    all.set(record.name, record);
  }
  return all;
}

async function driverFrom(options: EngineOptions, clock: Clock, catalogs: Catalogs, preset: Preset): Promise<Driver> {
  const { driver } = options;
  if (typeof driver === 'function') return driver(clock, catalogs);
  return driver ?? new SimulatedDriver({ clock, rules: preset.rules });
}

/** Makes an engine of options that are known to be right; see `createEngine()`. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  // The schema is loaded for presets that somebody else has written, and for nobody else.
  const preset = options.preset
    ? (await import('../preset/parse-preset.js')).parsePreset(options.preset)
    : defaultPreset;
  const clock = options.clock ?? systemClock;
  const database = options.database ?? ':memory:';
  const sealer = await sealerFor(database, options);
  const observer = observedBy([...observersOf(options), { overQuota: (told) => events.refused(told) }]);
  const store = await openStore(database, options, observer);
  const onError = (error: unknown) => options.onError?.(error, undefined);
  const events = new EngineEvents(store, clock, options.events, onError, observer.eventsDropped);
  const settings: Settings = {
    ...defaultSettings,
    ...options.settings,
    quotas: { ...defaultSettings.quotas, ...options.settings?.quotas },
  };
  const runner = new ActionRunner(() => core, withOwn(options.actions ?? []), cleanups);
  const keepTokens = Object.values(options.catalogs ?? {}).some(Boolean);
  const jobs = new Jobs(store, new Payloads(sealer, { keepTokens }));
  const worker = new Worker({
    ...(options.worker || {}),
    store,
    jobs,
    run: (job, signal) => runner.run(job, signal),
    observer,
    onError: options.onError ?? (() => {}),
  });
  const embedded = embeddedCatalogs({
    store,
    clock,
    unknown: preset.unknown,
    imageDirectory: options.imageDirectory ?? (isSqliteFile(database) ? `${database}.images` : undefined),
    onServerPortsChanged: (serverId) => interfaceRefresh.changed(serverId),
    tunnelAddresses,
    onVolumeExtended: (serverId, volumeId) => externalEvents.volumeHasGrown(serverId, volumeId),
    volumeStorage: () => driver.volumes ?? farVolumes,
  });
  const catalogs = { ...embedded, ...options.catalogs };
  const driver = await driverFrom(options, clock, catalogs, preset).catch(async (error) => {
    await store.close();
    throw error;
  });
  const infrastructure = new Infrastructure(store, clock, settings);
  const local = machinesOf(driver);
  // Only processes that share a database can be hosts of each other.
  const desk = store.kind === 'postgres' ? new HostDesk(database, store, new HostOrders(store, sealer)) : undefined;
  const caller = sealer && new HostCaller({ keys: linkKeys(sealer), find: linkFinder(store) });
  const farVolumes =
    desk && caller && volumesOfHosts({ ask: caller.ask.bind(caller), volumeHost: volumeHostFinder(store) });
  const machines = desk && caller ? machinesOfHosts(local, { desk, caller, infrastructure }) : local;
  const core: Core = {
    store,
    clock,
    driver,
    machines: observedMachines(machines, observer),
    catalogs,
    worker,
    guards: new Guards(jobs, { ...workerDefaults, ...(options.worker || {}) }),
    infrastructure,
    settings,
    observer,
    events,
  };
  const interfaceRefresh = new InterfaceRefresh(core);
  const ofProjects = projectServices(core, interfaceRefresh);
  const { servers } = ofProjects;
  const externalEvents = new ExternalEvents(core, servers, interfaceRefresh);
  const services = new Services(core);
  await applyPreset(store, clock, embedded, preset).catch(async (error) => {
    await store.close();
    throw error;
  });
  const housekeeping = new Housekeeping(core, servers);
  const retention = new Retention(core);
  const purge = new PeriodicPurge(retention, clock, async () => {
    if (catalogs.volumes === embedded.volumes) await embedded.volumes.sweepStorage();
    for (const correction of await recountHosts(store))
      options.onError?.(new Error(correctionText(correction)), undefined);
  });
  const powerWatch = new PowerWatch({
    store,
    driver,
    follow: async (server, powerState) => {
      await store.transaction((tx) => worker.add(tx, followPowerJob(server, powerState)));
    },
    onError,
  });
  await events.start();
  if (options.worker !== false) {
    await worker.start();
    await services.begin();
    powerWatch.start();
    housekeeping.start((error) => options.onError?.(error, undefined));
    purge.start((error) => options.onError?.(error, undefined));
  }
  const engine: Engine = {
    clock,
    catalogs: core.catalogs,
    settings,
    embedded,
    quotaDatabase: quotaDatabase(store),
    ...ofProjects,
    reading: (caller) => readingFor(caller),
    housekeeping,
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
    statistics: new Statistics(core),
    events,
    on: (type, hear) => events.on(type, hear),
    health: engineHealth(core),
    idle: () => worker.idle(),
    close: async () => {
      await powerWatch.stop();
      await housekeeping.stop();
      await purge.stop();
      core.guards.stop();
      await worker.stop();
      await interfaceRefresh.idle();
      await events.stop();
      await desk?.stop();
      await driver.close?.();
      await store.close();
    },
  };
  const readingFor: Engine['reading'] = store.replicas ? readingEngines(engine, core, store.replicas) : () => engine;
  keepCore(engine, core);
  return engine;
}
