import { resource } from '../reference/resource.js';

export const externalEventDocs = resource({
  tag: 'external-events',
  fields: {
    events: 'The list of events.',
    'events.name':
      'Type of the event: `network-changed`, `network-vif-plugged`, `network-vif-unplugged`, `network-vif-deleted`, `volume-extended` (since 2.51), `power-update` (since 2.76), `accelerator-request-bound` (since 2.82) or `volume-reimaged` (since 2.93).',
    'events.status': 'Result of the event: `completed`, `failed` or `in-progress`. Default: `completed`.',
    'events.tag': 'Subject of the event: the ID of a port or volume, or a power state, depending on the event type.',
    'events.code':
      'Result of the request for this event: 200 if accepted, 400 if the server has no host, 404 if the server does not exist, 422 if the tag is missing.',
  },
});

export const assistedSnapshotDocs = resource({
  tag: 'assisted-volume-snapshots',
  parameters: { id: 'UUID of the snapshot.' },
  fields: {
    'query.delete_info': 'JSON string with `volume_id`, the UUID of the volume, and data for the driver.',
    snapshot: 'The snapshot.',
    'snapshot.volume_id': 'UUID of the volume.',
    create_info: 'Data for the driver.',
    'create_info.snapshot_id': 'UUID of the snapshot in the volume service.',
    'create_info.type': 'Format of the snapshot file: `qcow2`.',
    'create_info.new_file': 'Name of the file that receives subsequent writes.',
    'create_info.id': 'ID to return in the response.',
    'reply.snapshot.id': 'ID from the request, or null.',
    'reply.snapshot.volumeId': 'UUID of the volume.',
  },
});
