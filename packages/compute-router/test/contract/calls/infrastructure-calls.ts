import { randomUUID } from 'node:crypto';
import { from, id, named, nothing, type Prepare, withBody } from './call.js';

const withAggregate = id((cloud) => cloud.aggregate());
const snapshotInfo = { snapshot_id: randomUUID(), type: 'qcow2', new_file: 'volume.2' };

export const infrastructureCalls: Readonly<Record<string, Prepare>> = {
  'GET /os-aggregates': nothing,
  'POST /os-aggregates': (cloud) => ({ body: { aggregate: { name: cloud.name('aggregate') } } }),
  'GET /os-aggregates/{id}': withAggregate,
  'PUT /os-aggregates/{id}': async (cloud, version) => ({
    ...(await withAggregate(cloud, version)),
    body: { aggregate: { name: cloud.name('aggregate') } },
  }),
  'DELETE /os-aggregates/{id}': withAggregate,
  'POST /os-aggregates/{id}/action add_host': withBody(withAggregate, { add_host: { host: 'host1' } }),
  'POST /os-aggregates/{id}/action remove_host': async (cloud) => ({
    params: { id: await cloud.aggregate('host1') },
    body: { remove_host: { host: 'host1' } },
  }),
  'POST /os-aggregates/{id}/action set_metadata': withBody(withAggregate, { set_metadata: { metadata: { a: 'b' } } }),
  'POST /os-aggregates/{id}/images': async (cloud, version) => ({
    ...(await withAggregate(cloud, version)),
    body: { cache: [{ id: cloud.ids.image }] },
  }),
  'GET /os-availability-zone': nothing,
  'GET /os-availability-zone/detail': nothing,
  'GET /os-hosts': nothing,
  'GET /os-hosts/{id}': named('host1'),
  'PUT /os-hosts/{id}': withBody(named('host1'), { status: 'enable' }),
  'GET /os-hosts/{id}/reboot': id(async (cloud) => cloud.idleHost()),
  'GET /os-hosts/{id}/shutdown': id(async (cloud) => cloud.idleHost()),
  'GET /os-hosts/{id}/startup': id(async (cloud) => cloud.idleHost()),
  'GET /os-hypervisors': nothing,
  'GET /os-hypervisors/detail': nothing,
  'GET /os-hypervisors/statistics': nothing,
  'GET /os-hypervisors/{id}': id((cloud, version) => cloud.hypervisorId(version)),
  'GET /os-hypervisors/{id}/search': named('host'),
  'GET /os-hypervisors/{id}/servers': named('host'),
  'GET /os-hypervisors/{id}/uptime': id((cloud, version) => cloud.hypervisorId(version)),
  'GET /os-services': nothing,
  'PUT /os-services/{id}': async (cloud, version) =>
    from(version, 53)
      ? { params: { id: await cloud.serviceId('host1', version) }, body: { status: 'enabled' } }
      : { params: { id: 'enable' }, body: { host: 'host1', binary: 'nova-compute' } },
  'DELETE /os-services/{id}': id((cloud, version) => cloud.serviceId(cloud.idleHost(), version)),
  'POST /os-server-external-events': async (cloud) => ({
    body: { events: [{ server_uuid: (await cloud.server()).id, name: 'network-changed' }] },
  }),
  'POST /os-assisted-volume-snapshots': async (cloud) => ({
    body: { snapshot: { volume_id: (await cloud.attached()).id, create_info: snapshotInfo } },
  }),
  'DELETE /os-assisted-volume-snapshots/{id}': async (cloud) => ({
    params: { id: randomUUID() },
    query: `delete_info=${encodeURIComponent(JSON.stringify({ volume_id: (await cloud.attached()).id }))}`,
  }),
  'GET /os-instance_usage_audit_log': nothing,
  'GET /os-instance_usage_audit_log/{id}': named('2026-01-01 00:00:00'),
};
