import type { Call } from '../service/call.js';
import { ifMissing } from '../service/if-missing.js';
import { del, get, noContent, openGet, put, Reply, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import { formatMicros } from '../service/times.js';
import { onlyFields } from '../service/view.js';
import { text } from '../service/wire-types.js';
import { EXTENSIONS } from './extensions.js';
import { limitsOf, usageOf } from './quota-routes.js';
import { findPool, listPools, poolNameOf, poolsFor } from './storage-pool.js';
import { isAtLeast, RESOURCE_FILTERS } from './volume-style.js';
import { object, requiredName } from './wire-types.js';

export const MIN_VERSION = '3.0';
export const MAX_VERSION = '3.71';

/** The lists that are always empty in this cloud, by path, with the key in the response body. */
const EMPTY_LISTS: readonly (readonly [string, string, 'admin'?])[] = [
  ['consistencygroups', 'consistencygroups'],
  ['consistencygroups/detail', 'consistencygroups'],
  ['cgsnapshots', 'cgsnapshots'],
  ['cgsnapshots/detail', 'cgsnapshots'],
  ['clusters', 'clusters', 'admin'],
  ['clusters/detail', 'clusters', 'admin'],
];

const DefaultType = object({ default_type: object({ volume_type: requiredName }) });
const Cluster = { name: requiredName, binary: text.nullish() };

/** Throws a 404 error, because this cloud has no service clusters. */
function rejectCluster(call: Call, name: string): never {
  call.requireAdmin();
  throw notFound(`Cluster ${name} could not be found.`);
}

function versions({ base }: Call) {
  return {
    versions: [
      {
        id: 'v3.0',
        status: 'CURRENT',
        version: MAX_VERSION,
        min_version: MIN_VERSION,
        updated: '2022-03-30T00:00:00Z',
        links: [{ rel: 'self', href: `${base}/v3/` }],
        'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.volume+json;version=3' }],
      },
    ],
  };
}

async function absoluteLimits(call: Call) {
  const { projectId } = call.caller;
  const requested = call.text('project_id') ?? call.text('tenant_id');
  const project = (call.isAdmin && isAtLeast(call, 39) && requested) || projectId;
  const limit = await limitsOf(call, project);
  const used = await usageOf(call, project);
  return {
    maxTotalVolumes: limit.volumes,
    maxTotalSnapshots: limit.snapshots,
    maxTotalVolumeGigabytes: limit.gigabytes,
    maxTotalBackups: limit.backups,
    maxTotalBackupGigabytes: limit.backup_gigabytes,
    totalVolumesUsed: used.volumes,
    totalSnapshotsUsed: used.snapshots,
    totalGigabytesUsed: used.gigabytes,
    totalBackupsUsed: used.backups,
    totalBackupGigabytesUsed: used.backup_gigabytes,
  };
}

/** Returns the pools of hosts that are up. */
async function pools(call: Call) {
  call.requireAdmin();
  const { volumes } = call.cloud.catalogs;
  const unknownFilters = [...call.query.keys()].filter(
    (name) => name !== 'detail' && !(RESOURCE_FILTERS.pool as readonly string[]).includes(name),
  );
  if (unknownFilters.length > 0 && isAtLeast(call, 31))
    throw badRequest(`Invalid filters ${unknownFilters.join(',')} are found in query options.`);
  const name = isAtLeast(call, 28) ? call.text('name') : undefined;
  const type = isAtLeast(call, 35) ? call.text('volume_type') : undefined;
  const pools = type
    ? await poolsFor(call, await volumes.getType(call.caller, type))
    : (await listPools(call)).filter(({ up }) => up);
  const foundPools = pools.filter(({ host }) => (name ?? poolNameOf(host)) === poolNameOf(host));
  if (!call.flag('detail')) return { pools: foundPools.map(({ host }) => ({ name: poolNameOf(host) })) };
  const allVolumes = await volumes.listVolumes(call.caller, { allProjects: true });
  return {
    pools: foundPools.map(({ host, capabilities }) => {
      const provisionedGb = allVolumes.reduce((sum, one) => sum + (one.host === host ? one.sizeGb : 0), 0);
      return {
        name: poolNameOf(host),
        capabilities: {
          ...capabilities,
          provisioned_capacity_gb: provisionedGb,
          allocated_capacity_gb: provisionedGb,
          timestamp: formatMicros(call.cloud.clock.now()),
        },
      };
    }),
  };
}

/** The routes for projects' default volume types, which administrators set. */
function defaultTypeRoutes(): readonly Route[] {
  const table = ({ cloud }: Call) => cloud.documents.table<string>('volume/default-types');
  const defaultTypeView = (project_id: string, volume_type_id: string) => ({ project_id, volume_type_id });
  return [
    get('/v3/default-types', (call) => {
      call.requireAdmin();
      return { default_types: [...table(call)].map(([project, typeId]) => defaultTypeView(project, typeId)) };
    }),
    get('/v3/default-types/:project', (call) => {
      call.requireAdmin();
      const volumeTypeId = table(call).get(call.param('project'));
      if (!volumeTypeId) throw notFound(`Default type for project ${call.param('project')} not found.`);
      return { default_type: defaultTypeView(call.param('project'), volumeTypeId) };
    }),
    put('/v3/default-types/:project', async (call) => {
      call.requireAdmin();
      const { volume_type } = call.body(DefaultType).default_type;
      const type = await call.cloud.catalogs.volumes.getType(call.caller, volume_type).catch(ifMissing);
      if (!type) throw badRequest(`Volume type ${volume_type} could not be found.`);
      const { id } = type;
      table(call).set(call.param('project'), id);
      return { default_type: defaultTypeView(call.param('project'), id) };
    }),
    del('/v3/default-types/:project', (call) => {
      call.requireAdmin();
      if (!table(call).delete(call.param('project')))
        throw notFound(`Default type for project ${call.param('project')} not found.`);
      return noContent();
    }),
  ];
}

/** The routes for versions, extensions, limits, availability zones, pools and default volume types. */
export function volumeServiceRoutes(): readonly Route[] {
  return [
    openGet('/', (call) => new Reply(300, versions(call))),
    get('/v3', versions),
    get('/v3/', versions),
    get('/v3/extensions', () => ({ extensions: EXTENSIONS })),
    get('/v3/extensions/:alias', (call) => {
      const extension = EXTENSIONS.find(({ alias }) => alias === call.param('alias'));
      if (!extension) throw notFound('The resource could not be found.');
      return { extension };
    }),
    get('/v3/limits', async (call) => ({ limits: { rate: [], absolute: await absoluteLimits(call) } })),
    get('/v3/os-availability-zone', async (call) => {
      const pools = await listPools(call);
      const zones = [...new Set(pools.map(({ zone }) => zone))];
      const isAvailable = (zoneName: string) => pools.some(({ zone, up }) => zone === zoneName && up);
      return {
        availabilityZoneInfo: zones.map((zoneName) => ({ zoneName, zoneState: { available: isAvailable(zoneName) } })),
      };
    }),
    get('/v3/scheduler-stats/get_pools', pools),
    get('/v3/capabilities/:host', async (call) => {
      call.requireAdmin();
      const host = call.param('host');
      const pool = await findPool(call, host);
      if (pool?.backend !== host) throw notFound(`Can't find service: ${host}`);
      const { capabilities } = pool;
      return {
        namespace: `OS::Storage::Capabilities::${capabilities.volume_backend_name}`,
        ...onlyFields(
          'vendor_name',
          'volume_backend_name',
          'pool_name',
          'driver_version',
          'storage_protocol',
        )(capabilities),
        display_name: null,
        description: null,
        visibility: null,
        replication_targets: [],
        properties: {},
      };
    }),
    get('/v3/resource_filters', (call) => {
      const requested = call.text('resource');
      const resourceFilters = Object.entries(RESOURCE_FILTERS).filter(
        ([name]) => requested === undefined || name === requested,
      );
      return { resource_filters: resourceFilters.map(([resource, filters]) => ({ resource, filters })) };
    }),
    ...EMPTY_LISTS.map(([path, many, admin]) =>
      get(`/v3/${path}`, (call) => {
        if (admin) call.requireAdmin();
        return { [many]: [] };
      }),
    ),
    get('/v3/clusters/:name', (call) => rejectCluster(call, call.param('name'))),
    put('/v3/clusters/enable', (call) => rejectCluster(call, call.body(object(Cluster)).name)),
    put('/v3/clusters/disable', (call) =>
      rejectCluster(call, call.body(object({ ...Cluster, disabled_reason: text.nullish() })).name),
    ),
    ...defaultTypeRoutes(),
  ];
}
