import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { Resource } from '../service/resource.js';
import { created, get, post, type Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { formatMicros } from '../service/times.js';
import type { Wire } from '../service/wire.js';
import { checkQuota } from './quota-check.js';
import { invalidInput } from './volume-style.js';

/** The backup service in records: Cinder's driver that stores backups in files. Other services are rejected. */
const BACKUP_SERVICE = 'cinder.backup.drivers.posix.PosixBackupDriver';

const ImportBody = z.object({
  'backup-record': z.object({ backup_service: z.string().min(1).max(255), backup_url: z.string().min(1) }).strict(),
});

/** The names of backup fields in records, if they differ from those in responses. */
const RECORD_FIELD_NAMES: Readonly<Record<string, string>> = {
  name: 'display_name',
  description: 'display_description',
};

/** The keys that an imported record must contain. */
const REQUIRED_KEYS = [
  'display_name',
  'display_description',
  'container',
  'size',
  'service_metadata',
  'object_count',
  'id',
] as const;

/** Exports a backup as a base64-encoded record. The field `driver_info` contains data that only this service reads. */
function encodeRecord({ volume_metadata, ...backup }: Doc): string {
  const fields = Object.entries(backup).map(([key, value]) => [RECORD_FIELD_NAMES[key] ?? key, value]);
  const record = { ...Object.fromEntries(fields), service: BACKUP_SERVICE, service_metadata: null };
  return Buffer.from(JSON.stringify({ driver_info: { volume_metadata }, ...record })).toString('base64');
}

function decodeRecord(written: string): Wire {
  const bytes = /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(written) && Buffer.from(written, 'base64');
  if (!bytes) throw invalidInput("Can't decode backup record.");
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(bytes.toString()));
  } catch {
    throw invalidInput("Can't parse backup record.");
  }
}

/** Returns the reason why a record cannot be imported; undefined if it can be imported. */
function rejectionReason(service: string, record: Wire): string | undefined {
  if (service !== BACKUP_SERVICE)
    return `Import record failed, cannot find backup service to perform the import. Request service ${service}.`;
  const missingKeys = REQUIRED_KEYS.filter((key) => !Object.hasOwn(record, key));
  return missingKeys.length === 0
    ? undefined
    : `Driver successfully decoded imported backup data, but there are missing fields (${missingKeys.join(', ')}).`;
}

/** Returns the backup fields in a record, except the state and the owner. */
function fieldsFromRecord(resource: Resource, record: Wire): Wire {
  const { volume_metadata } = z
    .object({ volume_metadata: z.record(z.string(), z.string()).optional().catch(undefined) })
    .catch({})
    .parse(record.driver_info);
  const fieldNames = Object.keys(resource.fields).filter(
    (key) => !['id', 'status', 'fail_reason', 'user_id', 'project_id', 'created_at', 'updated_at'].includes(key),
  );
  const backupFields = fieldNames.flatMap((key) => {
    const name = RECORD_FIELD_NAMES[key] ?? key;
    return Object.hasOwn(record, name) ? [[key, record[name]]] : [];
  });
  return { ...Object.fromEntries(backupFields), ...(volume_metadata && { volume_metadata }) };
}

/** The routes that export backups as records and create backups from such records. */
export function backupRecordRoutes(resource: Resource): readonly Route[] {
  async function importBackup(call: Call) {
    call.requireAdmin();
    const { backup_service, backup_url } = call.body(ImportBody)['backup-record'];
    const record = decodeRecord(backup_url);
    for (const [key, what] of [
      ['id', 'an id'],
      ['size', 'size attribute'],
    ] as const)
      if (!Object.hasOwn(record, key)) throw invalidInput(`Provided backup record is missing ${what}`);
    const id = z.uuid().safeParse(record.id);
    const size = z.int().min(0).safeParse(record.size);
    if (!id.success || !size.success) throw invalidInput("Can't parse backup record.");
    const table = call.cloud.documents.table<Doc>(resource.table);
    if (table.has(id.data)) throw badRequest('Invalid backup: Backup already exists in database.');
    await checkQuota(call, { backups: 1, backup_gigabytes: size.data });
    const reason = rejectionReason(backup_service, record);
    const now = formatMicros(call.cloud.clock.now());
    table.set(id.data, {
      id: id.data,
      // The backup has no volume until the record has been imported. If the import fails, it never has one.
      volume_id: '00000000-0000-0000-0000-000000000000',
      name: null,
      description: null,
      size: size.data,
      metadata: {},
      is_incremental: false,
      has_dependent_backups: false,
      ...(reason === undefined && fieldsFromRecord(resource, record)),
      status: reason === undefined ? 'available' : 'error',
      fail_reason: reason ?? null,
      project_id: call.caller.projectId,
      user_id: call.caller.userId,
      created_at: now,
      updated_at: now,
    });
    const shown = await resource.show(call, await resource.find(call, id.data));
    // Cinder sends the response before it imports the name.
    return created({ backup: resource.spec.views?.create?.({ ...shown, name: null }) });
  }

  return [
    get('/v3/backups/:id/export_record', async (call) => {
      call.requireAdmin();
      const backup = await resource.find(call, call.param('id'));
      if (backup.status !== 'available')
        throw badRequest(`Invalid backup: Backup status must be available and not ${backup.status}.`);
      return { 'backup-record': { backup_service: BACKUP_SERVICE, backup_url: encodeRecord(backup) } };
    }),
    post('/v3/backups/import_record', importBackup),
  ];
}
