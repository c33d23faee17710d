import { z } from 'zod';
import type { Call } from '../service/call.js';
import { accepted, get, post, put, Reply, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { formatMicros } from '../service/times.js';
import type { Wire } from '../service/wire.js';
import { text } from '../service/wire-types.js';
import {
  acceptsVolumes,
  backendOf,
  findPool,
  listPools,
  type Setting,
  settingOf,
  settings,
  VOLUME_SERVICE,
} from './storage-pool.js';
import { hostOrCluster, invalidInput, isAtLeast } from './volume-style.js';
import { boolean, object, uuid } from './wire-types.js';

interface Service {
  readonly binary: string;
  readonly host: string;
  readonly zone: string;
  readonly up: boolean;
}

/** Returns all services: a `cinder-volume` for each pool, and one of each other service. */
async function allServices(call: Call): Promise<readonly Service[]> {
  const control = (binary: string) => ({ binary, host: 'controller', zone: 'nova', up: true });
  const volumeServices = (await listPools(call)).map(({ backend: host, zone, up }) => ({
    binary: VOLUME_SERVICE,
    host,
    zone,
    up,
  }));
  return [control('cinder-scheduler'), ...volumeServices, control('cinder-backup')];
}

const hostName = text
  .min(1)
  .regex(/^[\w.#@:/+[\]-]*$/)
  .nullish();
const serviceNameFields = {
  binary: text.min(1).optional(),
  service: text.min(1).optional(),
  host: hostName,
  cluster: text.nullish(),
};
const hasBinary = ({ binary, service }: { readonly binary?: string; readonly service?: string }) =>
  binary !== undefined || service !== undefined;
const NamedServiceBody = object(serviceNameFields).refine(hasBinary, "'binary' is a required property");
const ServiceWithReasonBody = object({ ...serviceNameFields, disabled_reason: text.trim().min(1).optional() }).refine(
  hasBinary,
);
const Backend = object({ host: hostName, cluster: text.nullish() });
const Failover = object({ host: hostName, cluster: text.nullish(), backend_id: text.nullish() });
const HostChange = object({ status: z.enum(['enable', 'disable']) });
const Cleanup = object({
  host: hostName,
  cluster_name: hostName,
  binary: z.enum(['cinder-volume', 'cinder-scheduler']).optional(),
  is_up: boolean.optional(),
  disabled: boolean.optional(),
  resource_id: uuid.nullish(),
  resource_type: z
    .string()
    .regex(/^(|volume|snapshot)$/i, 'is not valid, must be Snapshot or Volume')
    .nullish(),
  service_id: z.union([z.int(), z.string().max(11).regex(/^\d*$/)]).nullish(),
});

const isDisabled = (call: Call, { binary, host }: Service): boolean => settingOf(call, binary, host).disabled === true;

function changeSetting(call: Call, binary: string, host: string, change: Setting): void {
  settings(call).set(`${binary}/${host}`, { ...settingOf(call, binary, host), ...change });
}

/** Returns whether a service runs on a host. Requests may name a host with or without its backend. */
const runsOn = (host: string, requested: string) => host === requested || host.split('@', 1)[0] === requested;

function serviceView(call: Call, { binary, host, zone, up }: Service): Wire {
  const { disabled = false, reason = null, frozen = false } = settingOf(call, binary, host);
  const isVolumeService = binary === VOLUME_SERVICE;
  const state = up ? 'up' : 'down';
  return {
    binary,
    host,
    zone,
    status: disabled ? 'disabled' : 'enabled',
    state,
    updated_at: formatMicros(call.cloud.clock.now()),
    disabled_reason: reason,
    ...(isAtLeast(call, 7) && { cluster: null }),
    ...(isAtLeast(call, 49) && isVolumeService && { backend_state: state }),
    ...(isVolumeService && { replication_status: 'disabled', active_backend_id: null, frozen }),
  };
}

async function listServices(call: Call): Promise<Wire> {
  call.requireAdmin();
  const binary = call.text('binary');
  const host = call.text('host');
  const foundServices = (await allServices(call)).filter(
    (service) => (binary ?? service.binary) === service.binary && (host === undefined || runsOn(service.host, host)),
  );
  return { services: foundServices.map((service) => serviceView(call, service)) };
}

/** Returns the services that a body names. Throws a 404 error if there are none. */
async function findNamedServices(call: Call, { binary, service, ...at }: z.infer<typeof NamedServiceBody>) {
  const host = hostOrCluster(call, at, Number.POSITIVE_INFINITY);
  const requested = binary || service || '';
  const services = await allServices(call);
  if (!services.some((one) => one.binary === requested && one.host === host))
    throw notFound(`Service ${requested} could not be found on host ${host}.`);
  return { binary: requested, host, shown: { host, service: service ?? '', binary: binary ?? '' } };
}

/** Returns the host in a body. Throws an error if the host does not store volumes. */
async function requireVolumeHost(call: Call, schema: typeof Backend | typeof Failover): Promise<string> {
  call.requireAdmin();
  const host = hostOrCluster(call, call.body(schema), 26);
  if ((await findPool(call, host))?.backend !== host)
    throw invalidInput(`Service ${VOLUME_SERVICE} could not be found on host ${host}.`);
  return host;
}

async function freeze(call: Call, frozen: boolean): Promise<Reply> {
  const host = await requireVolumeHost(call, Backend);
  changeSetting(call, VOLUME_SERVICE, host, { frozen });
  return new Reply(200);
}

/** The routes that list, enable, disable and freeze services. */
function serviceRoutes(): readonly Route[] {
  const path = '/v3/os-services';
  return [
    get(path, listServices),
    put(`${path}/enable`, async (call) => {
      call.requireAdmin();
      const { binary, host, shown } = await findNamedServices(call, call.body(NamedServiceBody));
      changeSetting(call, binary, host, { disabled: false, reason: null });
      return { ...shown, status: 'enabled', disabled: false };
    }),
    put(`${path}/disable`, async (call) => {
      call.requireAdmin();
      const { binary, host, shown } = await findNamedServices(call, call.body(NamedServiceBody));
      changeSetting(call, binary, host, { disabled: true });
      return { ...shown, status: 'disabled', disabled: true };
    }),
    put(`${path}/disable-log-reason`, async (call) => {
      call.requireAdmin();
      const requested = call.body(ServiceWithReasonBody);
      const { binary, host, shown } = await findNamedServices(call, requested);
      changeSetting(call, binary, host, { disabled: true, reason: requested.disabled_reason ?? null });
      return { ...shown, status: 'disabled', disabled: true, disabled_reason: requested.disabled_reason ?? null };
    }),
    put(`${path}/freeze`, (call) => freeze(call, true)),
    put(`${path}/thaw`, (call) => freeze(call, false)),
    put(`${path}/failover_host`, async (call) => {
      // A failover always fails, because the backend is not replicated.
      throw invalidInput(
        `No service could be changed: replication_status in ['${await requireVolumeHost(call, Failover)}'] must be enabled or failed-over and must be up to failover.`,
      );
    }),
    post('/v3/workers/cleanup', async (call) => {
      call.requireAdmin();
      const requested = call.body(Cleanup);
      const { is_up = false, disabled, host, binary, resource_id } = requested;
      if (resource_id && !['service_id', 'cluster_name', 'host'].some((key) => key in requested))
        throw invalidInput(`There is no resource with UUID ${resource_id} pending cleanup.`);
      const servicesToClean = (await allServices(call))
        .map((service, index) => ({ service, id: index + 1 }))
        .filter(
          ({ service }) =>
            is_up &&
            service.up &&
            (host ?? service.host) === service.host &&
            (binary ?? service.binary) === service.binary &&
            (disabled ?? isDisabled(call, service)) === isDisabled(call, service),
        )
        .map(({ service, id }) => ({ id, host: service.host, binary: service.binary, cluster_name: null }));
      return accepted({ cleaning: servicesToClean, unavailable: [] });
    }),
  ];
}

/** Returns the usage of a host, first in total and then by project. */
async function hostUsage(call: Call, backend: string): Promise<readonly Wire[]> {
  const { volumes: catalog } = call.cloud.catalogs;
  const allVolumes = await catalog.listVolumes(call.caller, { allProjects: true });
  const volumes = allVolumes.filter(({ host }) => backendOf(host) === backend);
  const volumeIds = new Set(volumes.map(({ id }) => id));
  const allSnapshots = await catalog.listSnapshots(call.caller, { allProjects: true });
  const snapshots = allSnapshots.filter(({ volumeId }) => volumeIds.has(volumeId));
  const sumSizes = (items: readonly { readonly sizeGb: number }[]) =>
    items.reduce((all, { sizeGb }) => all + sizeGb, 0);
  const createUsageEntry = (project: string, isIncluded: (one: { readonly projectId: string }) => boolean) => {
    const [matchingVolumes, matchingSnapshots] = [volumes.filter(isIncluded), snapshots.filter(isIncluded)];
    return {
      resource: {
        host: backend,
        project,
        volume_count: String(matchingVolumes.length),
        total_volume_gb: String(sumSizes(matchingVolumes)),
        snapshot_count: String(matchingSnapshots.length),
        total_snapshot_gb: String(sumSizes(matchingSnapshots)),
      },
    };
  };
  const projects = [...new Set(volumes.map(({ projectId }) => projectId))];
  return [
    createUsageEntry('(total)', () => true),
    ...projects.map((project) => createUsageEntry(project, ({ projectId }) => projectId === project)),
  ];
}

/** The routes for the hosts API, which contains only hosts with an enabled service. */
function hostsApiRoutes(): readonly Route[] {
  const enabledServices = async (call: Call) =>
    (await allServices(call)).filter((service) => !isDisabled(call, service));
  const hostNotFound = (host: string) => notFound(`Host ${host} could not be found.`);
  return [
    get('/v3/os-hosts', async (call) => {
      call.requireAdmin();
      const zone = call.text('zone') || 'nova';
      return {
        hosts: (await enabledServices(call))
          .filter((service) => zone === service.zone)
          .map(({ host: host_name, binary: service, up }) => ({
            host_name,
            service,
            zone,
            'service-status': up ? 'available' : 'unavailable',
            'service-state': 'enabled',
            'last-update': formatMicros(call.cloud.clock.now()),
          })),
      };
    }),
    get('/v3/os-hosts/:host', async (call) => {
      call.requireAdmin();
      const host = call.param('host');
      const pool = await findPool(call, host);
      if (pool?.backend !== host || !acceptsVolumes(call, pool)) throw hostNotFound(host);
      return { host: await hostUsage(call, host) };
    }),
    put('/v3/os-hosts/:host', async (call) => {
      call.requireAdmin();
      const host = call.param('host');
      const service = (await enabledServices(call)).find((one) => one.host === host);
      if (!service) throw hostNotFound(host);
      const disabled = call.body(HostChange).status === 'disable';
      changeSetting(call, service.binary, host, { disabled });
      return { host, status: disabled ? 'disabled' : 'enabled' };
    }),
  ];
}

export function hostRoutes(): readonly Route[] {
  return [...serviceRoutes(), ...hostsApiRoutes()];
}
