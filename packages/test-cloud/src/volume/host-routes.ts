import { z } from 'zod';
import type { Call } from '../service/call.js';
import { accepted, get, post, put, Reply, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { formatMicros } from '../service/times.js';
import type { Wire } from '../service/wire.js';
import { text } from '../service/wire-types.js';
import { hostOrCluster, invalidInput, isAtLeast } from './volume-style.js';
import { boolean, object, uuid } from './wire-types.js';

/** The name of the host and backend that store all volumes. */
export const BACKEND_HOST = 'volumes@simulated';
const VOLUME_SERVICE = 'cinder-volume';

const SERVICES = [
  ['cinder-scheduler', 'controller'],
  [VOLUME_SERVICE, BACKEND_HOST],
  ['cinder-backup', 'controller'],
] as const;

/** The settings of a volume service process, which administrators can change. */
interface Setting {
  readonly disabled?: boolean;
  readonly reason?: string | null;
  readonly frozen?: boolean;
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

const settings = ({ cloud }: Call) => cloud.documents.table<Setting>('volume/services');
const settingOf = (call: Call, binary: string, host: string): Setting => settings(call).get(`${binary}/${host}`) ?? {};

const isDisabled = (call: Call, binary: string, host: string): boolean =>
  settingOf(call, binary, host).disabled === true;

/** Returns whether `cinder-volume`, which stores volumes, is enabled. */
export const acceptsVolumes = (call: Call): boolean => !isDisabled(call, VOLUME_SERVICE, BACKEND_HOST);

function changeSetting(call: Call, binary: string, host: string, change: Setting): void {
  settings(call).set(`${binary}/${host}`, { ...settingOf(call, binary, host), ...change });
}

/** Returns whether a service runs on a host. Requests may name a host with or without its backend. */
const runsOn = (host: string, requested: string) => host === requested || host.split('@', 1)[0] === requested;

function serviceView(call: Call, binary: string, host: string): Wire {
  const { disabled = false, reason = null, frozen = false } = settingOf(call, binary, host);
  const isVolumeService = binary === VOLUME_SERVICE;
  return {
    binary,
    host,
    zone: 'nova',
    status: disabled ? 'disabled' : 'enabled',
    state: 'up',
    updated_at: formatMicros(call.cloud.clock.now()),
    disabled_reason: reason,
    ...(isAtLeast(call, 7) && { cluster: null }),
    ...(isAtLeast(call, 49) && isVolumeService && { backend_state: 'up' }),
    ...(isVolumeService && { replication_status: 'disabled', active_backend_id: null, frozen }),
  };
}

function listServices(call: Call): Wire {
  call.requireAdmin();
  const binary = call.text('binary');
  const host = call.text('host');
  const foundServices = SERVICES.filter(
    ([name, serviceHost]) => (binary ?? name) === name && (host === undefined || runsOn(serviceHost, host)),
  );
  return { services: foundServices.map(([name, serviceHost]) => serviceView(call, name, serviceHost)) };
}

/** Returns the services that a body names. Throws a 404 error if there are none. */
function findNamedServices(call: Call, { binary, service, ...at }: z.infer<typeof NamedServiceBody>) {
  const host = hostOrCluster(call, at, Number.POSITIVE_INFINITY);
  const requested = binary || service || '';
  const [name] = SERVICES.find(([one, serviceHost]) => one === requested && serviceHost === host) ?? [];
  if (!name) throw notFound(`Service ${requested} could not be found on host ${host}.`);
  return { binary: name, host, shown: { host, service: service ?? '', binary: binary ?? '' } };
}

/** Returns the host in a body. Throws an error if the host does not store volumes. */
function requireVolumeHost(call: Call, schema: typeof Backend | typeof Failover): string {
  call.requireAdmin();
  const host = hostOrCluster(call, call.body(schema), 26);
  if (host !== BACKEND_HOST) throw invalidInput(`Service ${VOLUME_SERVICE} could not be found on host ${host}.`);
  return host;
}

function freeze(call: Call, frozen: boolean): Reply {
  const host = requireVolumeHost(call, Backend);
  changeSetting(call, VOLUME_SERVICE, host, { frozen });
  return new Reply(200);
}

/** The routes that list, enable, disable and freeze services. */
function serviceRoutes(): readonly Route[] {
  const path = '/v3/os-services';
  return [
    get(path, listServices),
    put(`${path}/enable`, (call) => {
      call.requireAdmin();
      const { binary, host, shown } = findNamedServices(call, call.body(NamedServiceBody));
      changeSetting(call, binary, host, { disabled: false, reason: null });
      return { ...shown, status: 'enabled', disabled: false };
    }),
    put(`${path}/disable`, (call) => {
      call.requireAdmin();
      const { binary, host, shown } = findNamedServices(call, call.body(NamedServiceBody));
      changeSetting(call, binary, host, { disabled: true });
      return { ...shown, status: 'disabled', disabled: true };
    }),
    put(`${path}/disable-log-reason`, (call) => {
      call.requireAdmin();
      const requested = call.body(ServiceWithReasonBody);
      const { binary, host, shown } = findNamedServices(call, requested);
      changeSetting(call, binary, host, { disabled: true, reason: requested.disabled_reason ?? null });
      return { ...shown, status: 'disabled', disabled: true, disabled_reason: requested.disabled_reason ?? null };
    }),
    put(`${path}/freeze`, (call) => freeze(call, true)),
    put(`${path}/thaw`, (call) => freeze(call, false)),
    put(`${path}/failover_host`, (call) => {
      // A failover always fails, because the backend is not replicated.
      throw invalidInput(
        `No service could be changed: replication_status in ['${requireVolumeHost(call, Failover)}'] must be enabled or failed-over and must be up to failover.`,
      );
    }),
    post('/v3/workers/cleanup', (call) => {
      call.requireAdmin();
      const requested = call.body(Cleanup);
      const { is_up = false, disabled, host, binary, resource_id } = requested;
      if (resource_id && !['service_id', 'cluster_name', 'host'].some((key) => key in requested))
        throw invalidInput(`There is no resource with UUID ${resource_id} pending cleanup.`);
      const servicesToClean = SERVICES.map(([name, serviceHost], index) => ({
        id: index + 1,
        host: serviceHost,
        binary: name,
        cluster_name: null,
      })).filter(
        (service) =>
          is_up &&
          (host ?? service.host) === service.host &&
          (binary ?? service.binary) === service.binary &&
          (disabled ?? isDisabled(call, service.binary, service.host)) ===
            isDisabled(call, service.binary, service.host),
      );
      return accepted({ cleaning: servicesToClean, unavailable: [] });
    }),
  ];
}

/** Returns the usage of a host, first in total and then by project. */
async function hostUsage(call: Call): Promise<readonly Wire[]> {
  const { volumes: catalog } = call.cloud.catalogs;
  const volumes = await catalog.listVolumes(call.caller, { allProjects: true });
  const snapshots = await catalog.listSnapshots(call.caller, { allProjects: true });
  const sumSizes = (items: readonly { readonly sizeGb: number }[]) =>
    items.reduce((all, { sizeGb }) => all + sizeGb, 0);
  const createUsageEntry = (project: string, isIncluded: (one: { readonly projectId: string }) => boolean) => {
    const [matchingVolumes, matchingSnapshots] = [volumes.filter(isIncluded), snapshots.filter(isIncluded)];
    return {
      resource: {
        host: BACKEND_HOST,
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
  const enabledServices = (call: Call) => SERVICES.filter(([binary, host]) => !settingOf(call, binary, host).disabled);
  const hostNotFound = (host: string) => notFound(`Host ${host} could not be found.`);
  return [
    get('/v3/os-hosts', (call) => {
      call.requireAdmin();
      const zone = call.text('zone') || 'nova';
      return {
        hosts: enabledServices(call)
          .filter(() => zone === 'nova')
          .map(([service, host_name]) => ({
            host_name,
            service,
            zone,
            'service-status': 'available',
            'service-state': 'enabled',
            'last-update': formatMicros(call.cloud.clock.now()),
          })),
      };
    }),
    get('/v3/os-hosts/:host', async (call) => {
      call.requireAdmin();
      const host = call.param('host');
      if (host !== BACKEND_HOST || !acceptsVolumes(call)) throw hostNotFound(host);
      return { host: await hostUsage(call) };
    }),
    put('/v3/os-hosts/:host', (call) => {
      call.requireAdmin();
      const host = call.param('host');
      const [binary] = enabledServices(call).find(([, serviceHost]) => serviceHost === host) ?? [];
      if (!binary) throw hostNotFound(host);
      const disabled = call.body(HostChange).status === 'disable';
      changeSetting(call, binary, host, { disabled });
      return { host, status: disabled ? 'disabled' : 'enabled' };
    }),
  ];
}

export function hostRoutes(): readonly Route[] {
  return [...serviceRoutes(), ...hostsApiRoutes()];
}
