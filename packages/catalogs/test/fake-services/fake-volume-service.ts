import { randomUUID } from 'node:crypto';
import type { FakeRequest, FakeResponse, FakeToken } from './fake-service.js';
import { startFake } from './fake-service.js';

type Resource = Record<string, any>;

const notFound = (message: string): FakeResponse => ({ status: 404, body: { itemNotFound: { code: 404, message } } });
const badRequest = (message: string): FakeResponse => ({ status: 400, body: { badRequest: { code: 400, message } } });

/**
 * Starts a fake Volume v3 server with volumes, snapshots, types, attachments and attachment actions. The project in the
 * URL must be the token's project.
 */
export async function startFakeVolumes(tokens: ReadonlyMap<string, FakeToken>, { ignoresFilters = false } = {}) {
  const volumes = new Map<string, Resource>();
  const snapshots = new Map<string, Resource>();
  const attachments = new Map<string, Resource>();
  const types = [{ id: 'type-1', name: 'fast', extra_specs: {}, 'os-volume-type-access:is_public': true }];
  const OWNER = 'os-vol-tenant-attr:tenant_id';
  const SNAPSHOT_OWNER = 'os-extended-snapshot-attributes:project_id';

  const shown = (volume: Resource) => ({
    ...volume,
    attachments: [...attachments.values()]
      .filter((attachment) => attachment.volume_id === volume.id && attachment.status === 'attached')
      .map((attachment) => ({
        attachment_id: attachment.id,
        server_id: attachment.instance,
        device: attachment.device,
        host_name: attachment.host,
      })),
  });

  function list(resources: Iterable<Resource>, owner: string, { query, token }: FakeRequest): Resource[] {
    const all = token!.admin && query.get('all_tenants') === '1';
    const metadata = query
      .get('metadata')
      ?.match(/'[^']*'/g)
      ?.map((text) => text.slice(1, -1));
    return [...resources].filter(
      (resource) =>
        (all
          ? !query.get('project_id') || resource[owner] === query.get('project_id')
          : resource[owner] === token!.projectId) &&
        (ignoresFilters ||
          ((!metadata || resource.metadata[metadata[0]!] === metadata[1]) &&
            (!query.get('name') || resource.name === query.get('name')) &&
            (!query.get('volume_id') || resource.volume_id === query.get('volume_id')))),
    );
  }

  function settle(volume: Resource): void {
    const states = [...attachments.values()]
      .filter((attachment) => attachment.volume_id === volume.id)
      .map((tie) => tie.status);
    const settled = { attached: 'in-use', attaching: 'attaching', reserved: 'reserved' };
    volume.status = Object.entries(settled).find(([state]) => states.includes(state))?.[1] ?? 'available';
  }

  const actions: Readonly<Record<string, (volume: Resource, argument: any) => FakeResponse>> = {
    'os-begin_detaching': (volume) => {
      if (volume.status !== 'in-use') return badRequest('Invalid volume: status must be in-use');
      volume.status = 'detaching';
      return { status: 202 };
    },
    'os-roll_detaching': (volume) => {
      volume.status = 'in-use';
      return { status: 202 };
    },
    'os-reimage': (volume, { image_id }) => {
      volume.volume_image_metadata = { image_id };
      return { status: 202 };
    },
    'os-migrate_volume_completion': (volume) => ({ status: 200, body: { save_volume_id: volume.id } }),
    'os-extend_volume_completion': (volume, { error }) => {
      volume.status = error ? 'error_extending' : 'in-use';
      return { status: 202 };
    },
  };

  function volumeRoutes(request: FakeRequest, id: string | undefined, rest: string | undefined): FakeResponse {
    const { method, json, token } = request;
    if (method === 'POST' && !id) {
      const { volume } = json;
      if (volume.size > 1000)
        return {
          status: 413,
          body: {
            overLimit: { code: 413, message: 'VolumeSizeExceedsAvailableQuota: exceeds allowed gigabytes quota' },
          },
        };
      const base = {
        id: randomUUID(),
        status: 'creating',
        created_at: '2026-01-02T03:04:05.000000',
        bootable: 'false',
        user_id: 'u',
      };
      const created = { ...base, ...volume, [OWNER]: token!.projectId, bootable: String(Boolean(volume.imageRef)) };
      volumes.set(created.id, { ...created, status: 'available' });
      return { status: 202, body: { volume: shown(created) } };
    }
    if (id === 'detail') return { status: 200, body: { volumes: list(volumes.values(), OWNER, request).map(shown) } };
    const volume = volumes.get(id!);
    if (!volume || !(token!.admin || volume[OWNER] === token!.projectId))
      return notFound(`Volume ${id} could not be found.`);
    if (rest === '/action') {
      const [name, argument] = Object.entries(json)[0]!;
      return actions[name]!(volume, argument);
    }
    if (method === 'GET') return { status: 200, body: { volume: shown(volume) } };
    if (volume.status !== 'available') return badRequest('Invalid volume: Volume status must be available or error');
    volumes.delete(volume.id);
    return { status: 202 };
  }

  function snapshotRoutes(request: FakeRequest, id: string | undefined, rest: string | undefined): FakeResponse {
    const { method, json, token } = request;
    if (method === 'POST' && !id) {
      const base = { id: randomUUID(), status: 'available', created_at: '2026-01-02T03:04:05', size: 1 };
      const created = { ...base, ...json.snapshot, [SNAPSHOT_OWNER]: token!.projectId };
      snapshots.set(created.id, created);
      return { status: 202, body: { snapshot: created } };
    }
    if (id === 'detail') return { status: 200, body: { snapshots: list(snapshots.values(), SNAPSHOT_OWNER, request) } };
    const snapshot = snapshots.get(id!);
    if (!snapshot) return notFound(`Snapshot ${id} could not be found.`);
    if (rest === '/action') {
      Object.assign(snapshot, json['os-update_snapshot_status']);
      return { status: 202 };
    }
    if (method === 'GET') return { status: 200, body: { snapshot } };
    snapshots.delete(snapshot.id);
    return { status: 202 };
  }

  function attachmentRoutes(
    { method, json, query }: FakeRequest,
    id: string | undefined,
    rest: string | undefined,
  ): FakeResponse {
    if (method === 'POST' && !id) {
      const { volume_uuid: volumeId, instance_uuid: instance } = json.attachment;
      const volume = volumes.get(volumeId);
      if (!volume) return notFound(`Volume ${volumeId} could not be found.`);
      if (volume.status !== 'available') return badRequest('Invalid volume: status must be available');
      const attachment = { id: randomUUID(), volume_id: volumeId, instance, status: 'reserved', connection_info: {} };
      attachments.set(attachment.id, attachment);
      settle(volume);
      return { status: 200, body: { attachment } };
    }
    if (id === 'detail') {
      const found = [...attachments.values()].filter(
        (attachment) =>
          attachment.volume_id === query.get('volume_id') && attachment.instance === query.get('instance_id'),
      );
      return { status: 200, body: { attachments: found } };
    }
    const attachment = attachments.get(id!);
    if (!attachment) return notFound(`Volume attachment ${id} could not be found.`);
    const volume = volumes.get(attachment.volume_id)!;
    if (rest === '/action') {
      if (attachment.status !== 'attaching') return badRequest('Invalid attachment: expected attaching');
      attachment.status = 'attached';
    } else if (method === 'PUT') {
      const { host, mountpoint } = json.attachment.connector;
      Object.assign(attachment, {
        status: 'attaching',
        host,
        device: mountpoint,
        connection_info: { driver_volume_type: 'fake' },
      });
    } else if (method === 'DELETE') attachments.delete(attachment.id);
    settle(volume);
    return rest === '/action' ? { status: 204 } : { status: 200, body: { attachment } };
  }

  const fake = await startFake(tokens, (request) => {
    const { path, token } = request;
    if (!token) return { status: 401, body: { error: { message: 'Authentication required' } } };
    const [, project, name, id, rest] = /^\/v3\/([^/]+)\/([^/]+)(?:\/([^/]+))?(\/.+)?$/.exec(path) ?? [];
    if (project !== token.projectId) return badRequest('Malformed request url');
    if (name === 'volumes') return volumeRoutes(request, id, rest);
    if (name === 'snapshots') return snapshotRoutes(request, id, rest);
    if (name === 'attachments') return attachmentRoutes(request, id, rest);
    return { status: 200, body: { volume_types: types } };
  });
  return Object.assign(fake, { volumes, snapshots, attachments });
}
