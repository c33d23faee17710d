import type { Resource } from '../description/resource.js';

export const externalEventDocs: Resource = {
  tag: 'external-events',
  about: 'What other services tell of servers: a port is plugged in, a volume has grown.',
  operations: {
    'POST /os-server-external-events': [
      'createExternalEvents',
      'Tells of events. Each has an outcome of its own; the status is 207 if not all could be used. Each new kind of event needs a new version: 2.51, 2.76, 2.82 and 2.93.',
    ],
  },
  fields: {
    events: 'The events',
    'events.name':
      'What happened: `network-changed`, `network-vif-plugged`, `network-vif-unplugged`, `network-vif-deleted`; `volume-extended` (2.51), `power-update` (2.76), `accelerator-request-bound` (2.82), `volume-reimaged` (2.93)',
    'events.status': '`completed`, `failed` or `in-progress`; default `completed`',
    'events.tag': 'What it is about: a port, a volume, a power state, by kind of event',
    'events.code': '200 for taken, 400 for a server without a host, 404 for an unknown server, 422 for a missing tag',
  },
};

export const assistedSnapshotDocs: Resource = {
  tag: 'assisted-volume-snapshots',
  about: 'Snapshots of volumes that only the hypervisor can take; called by the volume service.',
  parameters: { id: 'Id of the snapshot, a UUID' },
  operations: {
    'POST /os-assisted-volume-snapshots': [
      'createAssistedVolumeSnapshot',
      'Has the host of the server that uses a volume take a snapshot in a new file.',
    ],
    'DELETE /os-assisted-volume-snapshots/{id}': [
      'deleteAssistedVolumeSnapshot',
      'Has the host merge the file of a snapshot back.',
    ],
  },
  fields: {
    'query.delete_info': 'JSON text with the id of the volume as `volume_id`, and what the driver needs to know',
    snapshot: 'The snapshot',
    'snapshot.volume_id': 'Id of the volume, a UUID',
    create_info: 'What the driver needs to know',
    'create_info.snapshot_id': 'Id of the snapshot in the volume service, a UUID',
    'create_info.type': 'Format of the file: `qcow2`',
    'create_info.new_file': 'Name of the file that is written from now on',
    'create_info.id': 'Id to be told in the answer',
    'reply.snapshot.id': 'Id of the snapshot, as it was given, or null',
    'reply.snapshot.volumeId': 'Id of the volume, a UUID',
  },
};
