import type { EmbeddedCatalogs } from '@apistrata/compute-engine';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, openGet, put, Reply, type Route } from '../service/route.js';
import { micros } from '../service/times.js';

export const MIN_VERSION = '3.0';
export const MAX_VERSION = '3.70';

const DEFAULTS: Readonly<Record<string, number>> = {
  volumes: 10,
  snapshots: 10,
  gigabytes: 1000,
  per_volume_gigabytes: -1,
  backups: 10,
  backup_gigabytes: 1000,
  groups: 10,
};

const QuotaSet = z.object({ quota_set: z.record(z.string(), z.unknown()) });

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

/** Versions, limits, zones and services: what clients look at around volumes. */
export function volumeServiceRoutes(
  volumes: () => EmbeddedCatalogs['volumes'],
  limits: () => Map<string, Record<string, number>>,
  now: () => number,
): readonly Route[] {
  const limitsOf = (project: string) => ({ ...DEFAULTS, ...limits().get(project) });

  async function usage(call: Call, project: string): Promise<Readonly<Record<string, number>>> {
    const query = call.isAdmin ? { allProjects: true, projectId: project } : {};
    const found = await volumes().listVolumes(call.caller, query);
    const snapshots = await volumes().listSnapshots(call.caller, query);
    return {
      volumes: found.length,
      gigabytes: [...found, ...snapshots].reduce((sum, { sizeGb }) => sum + sizeGb, 0),
      snapshots: snapshots.length,
    };
  }

  async function quotaSet(call: Call) {
    const project = call.param('project');
    const limit = limitsOf(project);
    if (!call.flag('usage')) return { quota_set: { id: project, ...limit } };
    const used = await usage(call, project);
    const shown = Object.entries(limit).map(([kind, value]) => [
      kind,
      { limit: value, in_use: used[kind] ?? 0, reserved: 0, allocated: 0 },
    ]);
    return { quota_set: { id: project, ...Object.fromEntries(shown) } };
  }

  return [
    openGet('/', (call) => new Reply(300, versions(call))),
    openGet('/v3', versions),
    get('/v3/extensions', () => ({ extensions: [] })),
    get('/v3/limits', async (call) => {
      const limit = limitsOf(call.caller.projectId);
      const used = await usage(call, call.caller.projectId);
      return {
        limits: {
          rate: [],
          absolute: {
            maxTotalVolumes: limit.volumes,
            maxTotalSnapshots: limit.snapshots,
            maxTotalVolumeGigabytes: limit.gigabytes,
            maxTotalBackups: limit.backups,
            maxTotalBackupGigabytes: limit.backup_gigabytes,
            totalVolumesUsed: used.volumes,
            totalSnapshotsUsed: used.snapshots,
            totalGigabytesUsed: used.gigabytes,
            totalBackupsUsed: 0,
            totalBackupGigabytesUsed: 0,
          },
        },
      };
    }),
    get('/v3/os-availability-zone', () => ({
      availabilityZoneInfo: [{ zoneName: 'nova', zoneState: { available: true } }],
    })),
    get('/v3/os-services', (call) => {
      call.requireAdmin();
      const service = (binary: string, host: string) => ({
        binary,
        host,
        zone: 'nova',
        status: 'enabled',
        state: 'up',
        updated_at: micros(now()),
        disabled_reason: null,
        cluster: null,
      });
      return { services: [service('cinder-scheduler', 'controller'), service('cinder-volume', 'volumes@simulated')] };
    }),
    get('/v3/os-quota-sets/:project', quotaSet),
    get('/v3/os-quota-sets/:project/defaults', (call) => ({ quota_set: { id: call.param('project'), ...DEFAULTS } })),
    put('/v3/os-quota-sets/:project', (call) => {
      call.requireAdmin();
      const project = call.param('project');
      const given = Object.entries(call.body(QuotaSet).quota_set).filter(([kind]) => kind in DEFAULTS);
      const changed = given.map(([kind, value]) => [kind, Number(value)]);
      limits().set(project, { ...limits().get(project), ...Object.fromEntries(changed) });
      return { quota_set: limitsOf(project) };
    }),
    del('/v3/os-quota-sets/:project', (call) => {
      call.requireAdmin();
      limits().delete(call.param('project'));
      return new Reply(200);
    }),
    get('/v3/os-quota-class-sets/:name', (call) => ({ quota_class_set: { id: call.param('name'), ...DEFAULTS } })),
    get('/v3/qos-specs', () => ({ qos_specs: [] })),
    get('/v3/backups', () => ({ backups: [] })),
    get('/v3/backups/detail', () => ({ backups: [] })),
    get('/v3/os-volume-transfer', () => ({ transfers: [] })),
    get('/v3/os-volume-transfer/detail', () => ({ transfers: [] })),
  ];
}
