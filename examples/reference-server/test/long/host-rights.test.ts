import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostRoleSql } from '@apistrata/compute-engine/maintenance';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { admin as runAdmin } from '../../src/admin/admin.js';
import { HostCloud, type SeenServer } from '../host-cloud.js';

const postgresUrl = inject('postgresUrl');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-host-rights-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const USER_DATA = Buffer.from('a secret of the guest').toString('base64');

const DOCUMENT = join(import.meta.dirname, '../../../../docs/a-real-cloud.md');

/** Returns the SQL and the command's options that the documents show, without the database and the secret key. */
function documentedCommands(): { readonly createRole: string; readonly hostRole: readonly string[] } {
  const [, block = ''] = readFileSync(DOCUMENT, 'utf8').split('host-rights.test.ts -->\n```sh\n');
  const shown =
    /psql -c "(?<sql>[^"]+)"\n.* host-role h1 (?<options>.*) --db postgres:.* --secret-key-file secret-key\n/;
  const { sql, options } = shown.exec(block)!.groups!;
  expect(block).toContain('apistrata host --name h1 --driver qemu --db postgres://host_h1:PASSWORD@');
  expect(block).toContain('/cloud --host-key-file h1.key');
  return { createRole: sql!, hostRole: options!.split(' ') };
}

describe.skipIf(!postgresUrl)('hosts with their own role and key', { timeout: 120_000 }, () => {
  // All databases of a PostgreSQL server share roles, so role names need a random suffix.
  const suffix = randomUUID().slice(0, 8);
  const role = (host: string) => `host_${host}_${suffix}`;
  const keyFile = (host: string) => join(folder, `${host}.key`);
  let database: string;
  let owner: pg.Client;
  let cloud: HostCloud;
  let metricsOfH1: string;
  let onH1: SeenServer;
  let onH2: SeenServer;

  const urlOf = (host: string) => database.replace(/\/\/[^@/]*@?/, `//${role(host)}:password@`);
  const admin = (...args: string[]) => runAdmin([...args, '--db', database], cloud.environment);
  /** Runs the command in the documents, for another host and another role. */
  const limit = (host: string, ...args: string[]) =>
    admin('host-role', host, '--role', role(host), ...args.map((arg) => arg.replace(/^h1\.key$/, keyFile(host))));

  /** Runs statements with the role of a host, and returns the rows of the last one. */
  async function asHost(host: string, ...statements: readonly string[]): Promise<readonly any[]> {
    const client = new pg.Client(urlOf(host));
    await client.connect();
    try {
      let rows: readonly any[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end();
    }
  }

  beforeAll(async () => {
    database = await freshDatabase(postgresUrl);
    owner = new pg.Client(database);
    await owner.connect();
    cloud = new HostCloud(database, join(folder, 'cloud'), 0);
    vi.stubEnv('APISTRATA_SECRET_KEY', cloud.environment.APISTRATA_SECRET_KEY);
    await cloud.startApi();
    for (const host of ['h1', 'h2']) {
      const { createRole, hostRole } = documentedCommands();
      await owner.query(createRole.replace('host_h1', role(host)).replace('PASSWORD', 'password'));
      await limit(host, ...hostRole);
      const started = await cloud.startLimitedHost(host, urlOf(host), keyFile(host), ['--metrics-port', '0']);
      if (host === 'h1') metricsOfH1 = /Metrics (http:\S+)/.exec(started.output())?.[1] ?? '';
    }
    const create = async (host: string) => cloud.settled(await cloud.create(host, { host, user_data: USER_DATA }));
    [onH1, onH2] = await Promise.all([create('h1'), create('h2')]);
  }, 120_000);

  afterAll(async () => {
    vi.unstubAllEnvs();
    await cloud?.end();
    for (const host of ['h1', 'h2']) {
      await owner?.query(`drop owned by ${role(host)}`);
      await owner?.query(`drop role ${role(host)}`);
    }
    await owner?.end();
  }, 60_000);

  const act = async (id: string, action: object) => {
    const { status, body } = await cloud.request('POST', `/servers/${id}/action`, action);
    expect([200, 202, 204], JSON.stringify(body)).toContain(status);
    return cloud.settled(id);
  };

  it('run servers: create, reboot, rebuild, rescue, snapshot, move and delete', async () => {
    const { create, settled, request, machinesOn } = cloud;
    const { id } = await settled(await create('all', { host: 'h1' }));
    const seen = async (status: string, host: string) => {
      expect(await cloud.see(id)).toMatchObject({ status, host, fault: undefined });
      await expect
        .poll(() => [machinesOn('h1').includes(id), machinesOn('h2').includes(id)])
        .toEqual([host === 'h1', host === 'h2']);
    };
    await seen('ACTIVE', 'h1');
    const image = '70a599e0-31e7-49b7-b260-868f441e862b';
    await act(id, { reboot: { type: 'HARD' } });
    await act(id, { rebuild: { imageRef: image } });
    await seen('ACTIVE', 'h1');
    expect(await act(id, { rescue: {} })).toMatchObject({ status: 'RESCUE', fault: undefined });
    await act(id, { unrescue: null });
    await act(id, { createImage: { name: 'copy' } });
    await act(id, { 'os-migrateLive': { host: 'h2', block_migration: 'auto' } });
    await seen('ACTIVE', 'h2');
    await act(id, { migrate: { host: 'h1' } });
    await act(id, { confirmResize: null });
    await seen('ACTIVE', 'h1');
    const console = await request('POST', `/servers/${id}/action`, { 'os-getConsoleOutput': {} });
    expect(console.body.output).toContain('Simulated machine all');
    expect((await request('DELETE', `/servers/${id}`)).status).toBe(204);
    await expect.poll(() => machinesOn('h1').includes(id)).toBe(false);
  });

  it('serve the metrics of their guests', async () => {
    const metrics = async () => (await fetch(metricsOfH1)).text();
    await expect.poll(metrics).toContain(`apistrata_guest_info{server="${onH1.id}",name="h1",project="demo"} 1`);
    expect(await metrics()).toContain('apistrata_guests_unresponsive 0');
    expect(await metrics()).not.toContain(onH2.id);
  });

  it('remove the machines of servers that were evacuated while the host was down, but cannot read these servers', async () => {
    const { create, settled, request, machinesOn, until } = cloud;
    const { id } = await settled(await create('evacuated', { host: 'h2' }));
    const service = async () => (await request('GET', '/os-services?host=h2')).body.services[0];
    await cloud.kill('h2');
    await until(async () => (await service()).state === 'down');
    expect(await act(id, { evacuate: { host: 'h1' } })).toMatchObject({ status: 'ACTIVE', host: 'h1' });
    expect(machinesOn('h2')).toContain(id);
    await cloud.startLimitedHost('h2', urlOf('h2'), keyFile('h2'));
    await expect.poll(() => machinesOn('h2')).toEqual([onH2.id]);
    expect((await asHost('h2', `select id from servers where id = '${id}'`)).length).toBe(0);
    await expect
      .poll(async () => {
        const { body } = await request('GET', '/os-migrations?migration_type=evacuation');
        return body.migrations.map((m: any) => m.status);
      })
      .toEqual(['completed']);
  });

  it('see the servers on them, but not those on other hosts', async () => {
    const ids = async (host: string) => (await asHost(host, 'select id from servers')).map(({ id }) => id);
    expect(await ids('h1')).toContain(onH1.id);
    expect(await ids('h1')).not.toContain(onH2.id);
    expect(await ids('h2')).toEqual([onH2.id]);
    const [departed] = await asHost('h1', `select apistrata_departed('${onH2.id}') as data`);
    expect(Object.keys(JSON.parse(departed.data)).sort()).toEqual(['blockDevices', 'claims', 'deleted', 'host', 'id']);
    expect(departed.data).not.toContain(USER_DATA);
  });

  it('see, respond to and remove only their own requests, and cannot create any', async () => {
    const insert = (host: string) =>
      owner.query(
        `insert into host_orders (id, host, server_id, question, asker, asked_at) values ($1, $2, $3, 'sealed', 'a', 1)`,
        [`order-${host}`, host, onH2.id],
      );
    await insert('h9');
    try {
      expect(await asHost('h1', 'select * from host_orders')).toEqual([]);
      expect(await asHost('h1', `delete from host_orders returning id`)).toEqual([]);
      expect(await asHost('h1', `update host_orders set answer = 'x' returning id`)).toEqual([]);
      await expect(
        asHost('h1', `insert into host_orders (id, host, question, asked_at) values ('a', 'h1', '', 1)`),
      ).rejects.toThrow('permission denied');
      await expect(asHost('h1', `update host_orders set server_id = '${onH2.id}'`)).rejects.toThrow(
        'permission denied',
      );
    } finally {
      await owner.query(`delete from host_orders where host = 'h9'`);
    }
  });

  it('have no privileges on tables that hosts do not need', async () => {
    const { rows } = await owner.query(`select tablename from pg_tables where schemaname = 'public'`);
    const granted = hostRoleSql({ host: 'h1', role: role('h1') }).matchAll(/^grant .* on (\w+) to /gm);
    const open = new Set([...granted].map(([, table]) => table));
    const closed = rows.map(({ tablename }) => tablename).filter((name) => !open.has(name));
    expect(closed).toEqual(
      expect.arrayContaining(['keypairs', 'console_tokens', 'quota_sets', 'quota_classes', 'host_roles', 'flavors']),
    );
    for (const table of closed) {
      await expect(asHost('h1', `select * from ${table}`), table).rejects.toThrow('permission denied');
      await expect(asHost('h1', `delete from ${table}`), table).rejects.toThrow('permission denied');
    }
    // Jobs contain callers' tokens, so hosts can add one kind of job, but cannot read jobs.
    await expect(asHost('h1', 'select * from jobs')).rejects.toThrow('permission denied');
  });

  it.each([
    ['a change of a server', `update servers set data = data`, 'permission denied'],
    ['a change of used capacity', `update nodes set vcpus_used = 0`, 'permission denied'],
    ['a node of another host', `insert into nodes (id, revision, data, host) values ('n', 1, '{}', 'h2')`, 'row-level'],
    [
      'a node that pretends to be another host',
      `insert into nodes (id, revision, data, host) values ('n', 1, '{"id":"n","host":"h2"}', 'h1')`,
      'row-level',
    ],
    [
      'a job of another kind',
      `insert into jobs (id, kind, server_id, payload, run_at, lease_until, attempts) select 'j', 'delete', id, '{}', 0, 0, 0 from servers`,
      'row-level',
    ],
    [
      'a job for the server of another host',
      `insert into jobs (id, kind, server_id, payload, run_at, lease_until, attempts) values ('j', 'followPower', 'other', '{}', 0, 0, 0)`,
      'row-level',
    ],
    ['a lease of another host', `insert into host_holds (host, owner, lease_until) values ('h3', 'x', 1)`, 'row-level'],
    ['a table', 'create table mine (id text)', 'permission denied'],
    ['its own role', `update host_roles set host = 'h2'`, 'permission denied'],
  ])('cannot write %s', async (_what, statement, message) => {
    await expect(asHost('h1', statement)).rejects.toThrow(message);
  });

  it('cannot change rows of other hosts', async () => {
    for (const table of ['host_holds', 'services', 'nodes'])
      expect(await asHost('h1', `update ${table} set host = host where host = 'h2' returning host`)).toEqual([]);
  });

  it('cannot deceive the SQL functions with temporary tables of the same names', async () => {
    const shadowTable = `create temp table host_roles as select session_user::text as role, 'h2'::text as host, 1 as volumes`;
    expect(await asHost('h1', shadowTable, 'select apistrata_host() as host')).toEqual([{ host: 'h1' }]);
    expect(await asHost('h1', shadowTable, `select id from servers where id = '${onH2.id}'`)).toEqual([]);
  });

  it('read the images of servers on them, but no other private images', async () => {
    const image = async (name: string) => {
      const { rows } = await owner.query(
        `insert into images (id, revision, data, project_id, name, status, visibility, hidden)
          values ($1, 1, '{}', 'other', $2, 'active', 'private', 0) returning id`,
        [randomUUID(), name],
      );
      return rows[0].id;
    };
    const secret = await image('secret');
    await owner.query(`insert into image_chunks (image_id, number, base64) values ($1, 0, 'AAAA')`, [secret]);
    expect(await asHost('h1', `select id from images where id = '${secret}'`)).toEqual([]);
    expect(await asHost('h1', `select base64 from image_chunks where image_id = '${secret}'`)).toEqual([]);
    await owner.query(
      `insert into host_orders (id, host, question, asked_at, image_ids, begun_by, answered_at) values ('i', 'h1', '', 1, $1, 'x', 1)`,
      [`${randomUUID()} ${secret}`],
    );
    expect(await asHost('h1', `select id from images where id = '${secret}'`)).toEqual([{ id: secret }]);
    expect(await asHost('h2', `select id from images where id = '${secret}'`)).toEqual([]);
    await expect(
      asHost('h1', `insert into image_chunks (image_id, number, base64) values ('${secret}', 1, 'AAAA')`),
    ).rejects.toThrow('row-level');
  });

  it('have a key file that only its owner can read, and no key of the cloud or of another host', () => {
    const keys = ['h1', 'h2'].map((host) => readFileSync(keyFile(host), 'utf8').trim());
    expect(new Set([...keys, cloud.environment.APISTRATA_SECRET_KEY]).size).toBe(3);
    expect(statSync(keyFile('h1')).mode & 0o777).toBe(0o600);
  });

  it('are rejected with the key of another host, or without privileges', async () => {
    await cloud.kill('h1');
    await expect(cloud.startLimitedHost('h9', urlOf('h1'), keyFile('h1'))).rejects.toThrow(
      /row-level security.*admin host-role/,
    );
    await owner.query(`revoke all on services from ${role('h1')}`);
    await expect(cloud.startLimitedHost('h1', urlOf('h1'), keyFile('h1'))).rejects.toThrow(
      /permission denied for table services; run 'apistrata admin host-role'/,
    );
    await limit('h1');
    await cloud.startLimitedHost('h1', urlOf('h1'), keyFile('h1'));
    expect(await act(onH1.id, { reboot: { type: 'SOFT' } })).toMatchObject({ status: 'ACTIVE', fault: undefined });
  });

  it('need a role to which row-level security applies', async () => {
    await expect(admin('host-role', 'h9')).rejects.toThrow('the PostgreSQL role host_h9 does not exist: create it');
    await expect(admin('host-role', 'h9', '--role', 'test')).rejects.toThrow('is a superuser');
    const { output } = await admin('host-role', 'h9', '--print-sql');
    expect(output).toContain(`insert into host_roles (role, host, volumes) values ('host_h9', 'h9', 0)`);
  });
});
