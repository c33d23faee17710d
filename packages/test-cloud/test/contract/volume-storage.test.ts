import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

type Specs = Readonly<Record<string, string>>;

const facts = JSON.parse(readFileSync(new URL('../../../../reference/volume.json', import.meta.url), 'utf8')) as {
  readonly message: { readonly fields: readonly string[]; readonly days: number; readonly no_backend: object };
  readonly capabilities: readonly (readonly [Specs, boolean])[];
  readonly manageable: Readonly<
    Record<'volumes' | 'snapshots', Readonly<Record<'list' | 'detail', readonly string[]>>>
  > & {
    readonly rejected: readonly (readonly [string, number, string])[];
  };
  readonly backup_record: {
    readonly required: readonly string[];
    readonly missing: string;
    readonly unknown_service: string;
    readonly service: string;
  };
};

const HOST = 'volumes@simulated';
const NO_ID = '00000000-0000-0000-0000-000000000000';

async function volumes() {
  const cloud = await cloudUnderTest();
  const at = (token?: string) => {
    const raw = clientOf(cloud, token);
    return (method: string, path: string, body?: unknown) =>
      raw(method, `/volume/v3/${path}`, body, { 'OpenStack-API-Version': 'volume 3.71' });
  };
  const [request, member] = [at(), at(cloud.token('demo', 'demo'))];
  const type = async (extra_specs: Specs) =>
    (await request('POST', 'types', { volume_type: { name: 'special', extra_specs } })).body.volume_type.id as string;
  /** Creates a volume, reads it, and returns what was read. */
  const volume = async (fields: object = {}, by = member) => {
    const { id } = (await by('POST', 'volumes', { volume: { size: 2, ...fields } })).body.volume;
    return (await by('GET', `volumes/${id}`)).body.volume;
  };
  return { cloud, request, member, type, volume };
}

const keys = (wire: object) => Object.keys(wire).sort();
const sortedKeys = (names: readonly string[]) => [...names].sort();

describe('messages', () => {
  it('describe volumes whose type no pool supports', async () => {
    const { member, type, volume } = await volumes();
    const { id, status } = await volume({ volume_type: await type({ vendor_name: 'other' }) });
    expect(status).toBe('error');
    const [message, ...others] = (await member('GET', 'messages')).body.messages;
    expect(others).toEqual([]);
    expect(keys(message)).toEqual(sortedKeys(facts.message.fields));
    expect(message).toMatchObject({
      ...facts.message.no_backend,
      message_level: 'ERROR',
      resource_type: 'VOLUME',
      resource_uuid: id,
      request_id: expect.stringMatching(/^req-/),
    });
    const lifetime = Date.parse(`${message.guaranteed_until}Z`) - Date.parse(`${message.created_at}Z`);
    expect(lifetime).toBe(facts.message.days * 24 * 60 * 60 * 1000);
    expect((await member('GET', `messages/${message.id}`)).body.message).toEqual(message);
    expect((await member('GET', `messages?resource_uuid=${id}`)).body.messages).toHaveLength(1);
    expect((await member('GET', 'messages?resource_uuid=x')).body.messages).toEqual([]);
    expect((await member('DELETE', `messages/${message.id}`)).status).toBe(204);
    expect((await member('GET', `messages/${message.id}`)).status).toBe(404);
  });

  it('are listed to callers of their project only', async () => {
    const { cloud, request, member, type, volume } = await volumes();
    await volume({ volume_type: await type({ vendor_name: 'other' }) });
    const [{ id }] = (await member('GET', 'messages')).body.messages;
    const other = clientOf(cloud, cloud.token('ada', 'lab'));
    const headers = { 'OpenStack-API-Version': 'volume 3.71' };
    expect((await other('GET', '/volume/v3/messages', undefined, headers)).body.messages).toEqual([]);
    expect((await other('GET', `/volume/v3/messages/${id}`, undefined, headers)).status).toBe(404);
    expect((await request('GET', `messages/${id}`)).status).toBe(200);
  });

  it('expire', async () => {
    const { cloud, member, type, volume } = await volumes();
    await volume({ volume_type: await type({ vendor_name: 'other' }) });
    await cloud.clock.advance(`${facts.message.days - 1}d`);
    expect((await member('GET', 'messages')).body.messages).toHaveLength(1);
    await cloud.clock.advance('1d');
    expect((await member('GET', 'messages')).body.messages).toEqual([]);
  });

  it('describe volumes that no enabled service can store', async () => {
    const { request, member, volume } = await volumes();
    await request('PUT', 'os-services/disable', { binary: 'cinder-volume', host: HOST });
    expect((await volume()).status).toBe('error');
    expect((await member('GET', 'messages')).body.messages).toMatchObject([facts.message.no_backend]);
    await request('PUT', 'os-services/enable', { binary: 'cinder-volume', host: HOST });
    expect((await volume()).status).toBe('available');
  });
});

it.each(facts.capabilities)('decides whether extra specs %j fit the pool: %s', async (specs, fits) => {
  const { type, volume } = await volumes();
  expect((await volume({ volume_type: await type(specs) })).status).toBe(fits ? 'available' : 'error');
});

it('keeps the type of a volume if no pool fits the new one', async () => {
  const { request, type, volume } = await volumes();
  await type({ vendor_name: 'other' });
  const { id, volume_type } = await volume({}, request);
  const retype = { 'os-retype': { new_type: 'special', migration_policy: 'on-demand' } };
  expect((await request('POST', `volumes/${id}/action`, retype)).status).toBe(202);
  expect((await request('GET', `volumes/${id}`)).body.volume).toMatchObject({ volume_type, status: 'available' });
});

describe('the content of the pool', () => {
  it('can be listed, removed from management and managed again', async () => {
    const { request, member, volume } = await volumes();
    const list = async (of: string, rest = '') =>
      (await request('GET', `${of}?host=${HOST}${rest}`)).body[
        of.includes('vol') ? 'manageable-volumes' : 'manageable-snapshots'
      ];
    const { id } = await volume({}, request);
    const { snapshot } = (await request('POST', 'snapshots', { snapshot: { volume_id: id } })).body;
    const [one] = await list('manageable_volumes/detail');
    const reference = { 'source-name': `volume-${id}` };
    expect(one).toEqual({
      reference,
      size: 2,
      safe_to_manage: false,
      reason_not_safe: 'already managed',
      cinder_id: id,
      extra_info: null,
    });
    const [short] = await list('manageable_volumes');
    expect([keys(short), keys(one)]).toEqual([
      sortedKeys(facts.manageable.volumes.list),
      sortedKeys(facts.manageable.volumes.detail),
    ]);
    const [unmanaged] = await list('manageable_snapshots/detail');
    expect(unmanaged).toMatchObject({ cinder_id: snapshot.id, source_reference: reference });
    expect([keys((await list('manageable_snapshots'))[0]), keys(unmanaged)]).toEqual([
      sortedKeys(facts.manageable.snapshots.list),
      sortedKeys(facts.manageable.snapshots.detail),
    ]);

    const manage = (ref: object, by = request) =>
      by('POST', 'manageable_volumes', { volume: { host: `${HOST}#pool`, ref, name: 'again' } });
    expect(await manage(reference)).toMatchObject({
      status: 400,
      body: { badRequest: { message: expect.stringContaining('The volume is already managed') } },
    });
    expect((await request('POST', `snapshots/${snapshot.id}/action`, { 'os-unmanage': {} })).status).toBe(202);
    expect(await list('manageable_snapshots')).toMatchObject([
      { reference: unmanaged.reference, safe_to_manage: true },
    ]);
    expect((await request('POST', `volumes/${id}/action`, { 'os-unmanage': {} })).status).toBe(202);
    expect(await list('manageable_volumes')).toEqual([{ reference, size: 2, safe_to_manage: true }]);

    expect((await manage(reference, member)).status).toBe(403);
    const managed = await manage(reference);
    expect(managed).toMatchObject({ status: 202, body: { volume: { name: 'again', size: 2 } } });
    const volume_id = managed.body.volume.id as string;
    expect(await list('os-volume-manage')).toMatchObject([
      { reference: { 'source-name': `volume-${volume_id}` }, safe_to_manage: false },
    ]);
    const again = await request('POST', 'manageable_snapshots', { snapshot: { volume_id, ref: unmanaged.reference } });
    expect(again).toMatchObject({ status: 202, body: { snapshot: { volume_id, size: 2 } } });
    expect(await list('os-snapshot-manage')).toMatchObject([{ safe_to_manage: false }]);
  });

  it('is listed in pages, in the requested order', async () => {
    const { request, volume } = await volumes();
    for (const size of [2, 1, 3]) await volume({ size });
    const sizes = async (query: string) =>
      (await request('GET', `manageable_volumes?host=${HOST}&${query}`)).body['manageable-volumes'].map(
        ({ size }: { size: number }) => size,
      );
    expect(await sizes('sort=size:asc')).toEqual([1, 2, 3]);
    expect(await sizes('sort_key=size&limit=2')).toEqual([3, 2]);
    expect(await sizes('sort=size:asc&offset=1&limit=1')).toEqual([2]);
    const [first] = (await request('GET', `manageable_volumes?host=${HOST}&sort=size:asc`)).body['manageable-volumes'];
    const marker = encodeURIComponent(JSON.stringify(first.reference));
    expect(await sizes(`sort=size:asc&marker=${marker}`)).toEqual([2, 3]);
  });

  it.each(facts.manageable.rejected)('rejects the list %j with %i', async (query, status, message) => {
    const { request } = await volumes();
    const rejected = await request('GET', `manageable_volumes${query}`);
    expect(rejected.status).toBe(status);
    expect(JSON.stringify(rejected.body)).toContain(message);
  });

  it('belongs to administrators and to enabled services', async () => {
    const { request, member } = await volumes();
    const path = `manageable_volumes?host=${HOST}`;
    expect((await member('GET', path)).status).toBe(403);
    await request('PUT', 'os-services/disable', { binary: 'cinder-volume', host: HOST });
    expect(await request('GET', path)).toMatchObject({
      status: 400,
      body: { badRequest: { message: 'Service is unavailable at this time.' } },
    });
  });
});

describe('records of backups', () => {
  async function exported() {
    const cloud = await volumes();
    const { request, volume } = cloud;
    const { id: volume_id } = await volume({ metadata: { tier: 'gold' } }, request);
    const fields = { volume_id, name: 'nightly', description: 'd', container: 'c' };
    const { id } = (await request('POST', 'backups', { backup: fields })).body.backup;
    const record = (await request('GET', `backups/${id}/export_record`)).body['backup-record'];
    const decoded = JSON.parse(Buffer.from(record.backup_url, 'base64').toString());
    const load = (given: object, by = request) => by('POST', 'backups/import_record', { 'backup-record': given });
    const encoded = (content: unknown) => ({
      ...record,
      backup_url: Buffer.from(JSON.stringify(content)).toString('base64'),
    });
    const shown = async () => (await request('GET', `backups/${id}`)).body.backup;
    return { ...cloud, id, record, decoded, load, encoded, shown, fields };
  }

  it('restore the deleted backup, with its content', async () => {
    const { request, id, record, decoded, load, shown, fields } = await exported();
    expect(record.backup_service).toBe(facts.backup_record.service);
    expect(Object.keys(decoded)).toEqual(expect.arrayContaining([...facts.backup_record.required]));
    expect(await load(record)).toMatchObject({
      status: 400,
      body: { badRequest: { message: 'Invalid backup: Backup already exists in database.' } },
    });
    await request('DELETE', `backups/${id}`);
    const loaded = await load(record);
    expect(loaded).toMatchObject({ status: 201, body: { backup: { id, name: null } } });
    expect(keys(loaded.body.backup)).toEqual(['id', 'links', 'name']);
    expect(await shown()).toMatchObject({ ...fields, id, size: 2, status: 'available' });
    const { restore } = (await request('POST', `backups/${id}/restore`, { restore: {} })).body;
    expect((await request('GET', `volumes/${restore.volume_id}`)).body.volume.metadata).toEqual({ tier: 'gold' });
  });

  it.each([
    ['is incomplete', ({ id, size }: any) => ({ id, size }), facts.backup_record.service, facts.backup_record.missing],
    ['is of another service', (all: any) => all, 'other', `${facts.backup_record.unknown_service} other.`],
  ])('leave a failed backup if the record %s', async (_, change, backup_service, reason) => {
    const { request, id, decoded, load, encoded, shown } = await exported();
    await request('DELETE', `backups/${id}`);
    expect((await load({ ...encoded(change(decoded)), backup_service })).status).toBe(201);
    const failed = await shown();
    expect(failed).toMatchObject({ status: 'error', volume_id: NO_ID });
    expect(failed.fail_reason).toContain(reason);
    expect((await request('GET', `backups/${id}/export_record`)).status).toBe(400);
  });

  it.each([
    ['%%%', "Can't decode backup record."],
    ['AAAA', "Can't parse backup record."],
    [Buffer.from('{}').toString('base64'), 'Provided backup record is missing an id'],
    [Buffer.from(`{"id":"${NO_ID}"}`).toString('base64'), 'Provided backup record is missing size attribute'],
    [Buffer.from('{"id":1,"size":1}').toString('base64'), "Can't parse backup record."],
  ])('are rejected as %s', async (backup_url, message) => {
    const { load, record } = await exported();
    expect(await load({ ...record, backup_url })).toMatchObject({
      status: 400,
      body: { badRequest: { message: `Invalid input received: ${message}` } },
    });
  });

  it('must be complete and within the quota, and are for administrators', async () => {
    const { request, member, id, load, record, decoded } = await exported();
    expect((await load(record, member)).status).toBe(403);
    expect((await load({ backup_url: record.backup_url })).status).toBe(400);
    await request('DELETE', `backups/${id}`);
    await request('PUT', `os-quota-sets/${decoded.project_id}`, { quota_set: { backups: 0 } });
    expect((await load(record)).status).toBe(413);
  });
});
