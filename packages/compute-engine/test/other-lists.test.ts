import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Engine } from '../src/engine/engine.js';
import { coreOf } from '../src/engine/engine-core.js';
import type { Server } from '../src/model/index.js';
import { contextOf, engineUnderTest } from './engine-under-test.js';
import { listenTo, type RecordedQuery } from './listen-to.js';
import { planCosts } from './plan-cost.js';
import { storesUnderTest } from './stores-under-test.js';

const OTHERS = 5000;
/** Maximum number of rows for a caller without resources, who sees only the shared resources of the preset. */
const MAX_ROWS = 20;

/**
 * SQL for the columns of numbered rows of other projects. The records of these rows are never read, so they are empty.
 */
const otherRows: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  instance_actions: { server_id: "'theirs'", request_id: "'req-' || n", updated_at: 'n' },
  migrations: {
    ...{ server_id: "'theirs'", project_id: "'theirs'", user_id: "'theirs'", updated_at: 'n', hidden: '0' },
    ...{ source_host: "'host1'", dest_host: "'host2'", status: "'running'", type: "'live-migration'" },
  },
  keypairs: { user_id: "'theirs'", name: "'key-' || n" },
  server_groups: { project_id: "'theirs'", user_id: "'theirs'" },
  volumes: { project_id: "'theirs'", status: "'available'", name: "'data'" },
  snapshots: { project_id: "'theirs'", volume_id: "'theirs'", status: "'available'", name: "'data'" },
  volume_attachments: { project_id: "'theirs'", volume_id: "'theirs'", server_id: "'theirs'" },
  images: {
    ...{ project_id: "'theirs'", name: "'data'", status: "'active'", visibility: "'private'", hidden: '0' },
    ...{ updated_at: 'n' },
  },
  image_members: { image_id: "'theirs'", project_id: "'theirs'", status: "'accepted'" },
  networks: { project_id: "'theirs'", name: "'data'", shared: '0', external: '0' },
  subnets: { project_id: "'theirs'", network_id: "'theirs-' || n", name: "'data'" },
  routers: { project_id: "'theirs'", name: "'data'" },
  ports: { project_id: "'theirs'", network_id: "'theirs'", device_id: "'theirs'", name: "'data'", mac: "'mac-' || n" },
  floating_ips: { project_id: "'theirs'", network_id: "'theirs'", port_id: "'theirs'", address: "'203.0.113.' || n" },
  security_groups: { project_id: "'theirs'", name: "'data'" },
  security_group_rules: { project_id: "'theirs'", group_id: "'theirs'" },
  shares: { project_id: "'theirs'", name: "'data'" },
};

const context = contextOf('poor');
const { caller } = context;
const poor = caller.projectId;
const server = { id: 'unknown' } as Server;
const page = { limit: 20 };

/** Lists for a caller without resources. */
const requests: Readonly<Record<string, (engine: Engine) => Promise<unknown>>> = {
  'actions of a server': ({ instanceActions }) => instanceActions.list('unknown', page),
  'actions of a server, all': ({ instanceActions }) => instanceActions.list('unknown'),
  'actions of a server since': ({ instanceActions }) => instanceActions.list('unknown', { ...page, changesSince: 1 }),
  'actions of a server before': ({ instanceActions }) => instanceActions.list('unknown', { changesBefore: OTHERS }),
  'migrations of a project': ({ migrations }) => migrations.list({ projectId: poor, newestFirst: true, ...page }),
  'migrations of a project, all': ({ migrations }) => migrations.list({ projectId: poor, newestFirst: false }),
  'migrations of a project that run': ({ migrations }) =>
    migrations.list({ projectId: poor, status: 'running', newestFirst: true, ...page }),
  'migrations of a project by host': ({ migrations }) =>
    migrations.list({ projectId: poor, host: 'host1', newestFirst: true, ...page }),
  'migrations of a project by source': ({ migrations }) =>
    migrations.list({ projectId: poor, sourceHost: 'host1', newestFirst: true, ...page }),
  'migrations of a project since': ({ migrations }) =>
    migrations.list({ projectId: poor, changesSince: 1, newestFirst: true, ...page }),
  'migrations of a user of a project': ({ migrations }) =>
    migrations.list({ projectId: poor, userId: 'unknown', newestFirst: true, ...page }),
  'migrations of a server': ({ migrations }) => migrations.list({ serverId: 'unknown', newestFirst: true, ...page }),
  'migrations of a server since': ({ migrations }) =>
    migrations.list({ serverId: 'unknown', changesSince: 1, newestFirst: true, ...page }),
  'migrations of a server in progress': ({ migrations }) => migrations.inProgress(server),
  'key pairs': ({ keypairs }) => keypairs.list('unknown', page),
  'key pairs, all': ({ keypairs }) => keypairs.list('unknown'),
  'server groups': ({ serverGroups }) => serverGroups.list(context, page),
  'server groups from the middle': ({ serverGroups }) => serverGroups.list(context, { ...page, offset: 10 }),
  volumes: ({ embedded }) => embedded.volumes.listVolumes(caller, page),
  'volumes, all': ({ embedded }) => embedded.volumes.listVolumes(caller),
  'volumes by name': ({ embedded }) => embedded.volumes.listVolumes(caller, { ...page, name: 'data' }),
  'volumes by status': ({ embedded }) => embedded.volumes.listVolumes(caller, { ...page, status: 'available' }),
  snapshots: ({ embedded }) => embedded.volumes.listSnapshots(caller, page),
  'snapshots of a volume': ({ embedded }) => embedded.volumes.listSnapshots(caller, { ...page, volumeId: 'unknown' }),
  'snapshots by status': ({ embedded }) => embedded.volumes.listSnapshots(caller, { ...page, status: 'available' }),
  attachments: ({ embedded }) => embedded.volumes.listAttachments(caller, page),
  'attachments of a volume': ({ embedded }) => embedded.volumes.listAttachments(caller, { volumeId: 'unknown' }),
  'attachments of a server': ({ embedded }) => embedded.volumes.listAttachments(caller, { serverId: 'unknown' }),
  images: ({ embedded }) => embedded.images.list(caller, page),
  'images, all': ({ embedded }) => embedded.images.list(caller),
  'images by name': ({ embedded }) => embedded.images.list(caller, { ...page, name: 'data' }),
  'images by status': ({ embedded }) => embedded.images.list(caller, { ...page, status: 'active' }),
  'images by visibility': ({ embedded }) => embedded.images.list(caller, { ...page, visibility: 'private' }),
  'images since': ({ embedded }) => embedded.images.list(caller, { ...page, updatedSince: 1 }),
  networks: ({ embedded }) => embedded.networks.listNetworks(caller, page),
  'networks, all': ({ embedded }) => embedded.networks.listNetworks(caller),
  'networks by name': ({ embedded }) => embedded.networks.listNetworks(caller, { ...page, name: 'data' }),
  'networks that are not shared': ({ embedded }) => embedded.networks.listNetworks(caller, { ...page, shared: false }),
  'networks for servers': ({ embedded }) => embedded.networks.availableNetworks(caller),
  subnets: ({ embedded }) => embedded.networks.listSubnets(caller, page),
  'subnets by name': ({ embedded }) => embedded.networks.listSubnets(caller, { ...page, name: 'data' }),
  routers: ({ embedded }) => embedded.networks.listRouters(caller, page),
  ports: ({ embedded }) => embedded.networks.listPorts(caller, page),
  'ports, all': ({ embedded }) => embedded.networks.listPorts(caller),
  'ports by name': ({ embedded }) => embedded.networks.listPorts(caller, { ...page, name: 'data' }),
  'ports of a server': ({ embedded }) => embedded.networks.listPorts(caller, { deviceIds: ['unknown'] }),
  'ports of a network': ({ embedded }) => embedded.networks.listPorts(caller, { ...page, networkId: 'theirs' }),
  'floating addresses': ({ embedded }) => embedded.networks.listFloatingIps(caller, page),
  'security groups': ({ embedded }) => embedded.networks.listSecurityGroups(caller, page),
  'security groups by name': ({ embedded }) => embedded.networks.listSecurityGroups(caller, { ...page, name: 'data' }),
  'rules of security groups': ({ embedded }) => embedded.networks.listSecurityGroupRules(caller, page),
  shares: ({ embedded }) => embedded.shares.list(caller, page),
};

/** Indexes of the caller's own or shared rows. */
const OWN =
  /\((project_id|user_id|server_id|volume_id|device_id|group_id|network_id|id|rowid|seq|shared|external|visibility|image_id)=\?/;

describe.each(storesUnderTest(inject('postgresUrl')))(
  'lists in tables with 5,000 unrelated rows on $kind',
  ({ kind, database }) => {
    let engine: Engine;
    const requested: RecordedQuery[] = [];
    const db = () => coreOf(engine).store.db;

    beforeAll(async () => {
      engine = await engineUnderTest({ database: await database() });
      const numbers =
        kind === 'SQLite'
          ? `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${OTHERS})`
          : `with numbers as (select generate_series(1, ${OTHERS}) as n)`;
      for (const [table, columns] of Object.entries(otherRows)) {
        const names = ['id', 'revision', 'data', ...Object.keys(columns)];
        const values = ["'their-' || n", 'n', "'{}'", ...Object.values(columns)];
        await sql.raw(`insert into ${table} (${names}) ${numbers} select ${values} from numbers`).execute(db());
      }
      listenTo(db(), 'own', requested);
    }, 120_000);
    afterAll(() => engine?.close());

    async function send(request: (engine: Engine) => Promise<unknown>): Promise<readonly CompiledQuery[]> {
      requested.length = 0;
      await request(engine);
      const selects = requested.map(({ query }) => query).filter(({ sql: text }) => text.startsWith('select'));
      expect(selects.length).toBeGreaterThan(0);
      return selects;
    }

    if (kind === 'SQLite') {
      it.each(Object.entries(requests))('%s: reads no rows of other projects', async (_what, request) => {
        for (const { sql: text, parameters } of await send(request)) {
          const plan = await db().executeQuery<{ detail: string }>(
            CompiledQuery.raw(`explain query plan ${text}`, [...parameters]),
          );
          const scans = plan.rows.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH) /.test(detail));
          expect(scans.length, text).toBeGreaterThan(0);
          expect(scans, text).toEqual(scans.filter((detail) => OWN.test(detail)));
        }
      });
      return;
    }

    describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
      beforeAll(async () => {
        if (statistics === 'with statistics') await sql`analyze`.execute(db());
      }, 60_000);

      it.each(Object.entries(requests))('%s: costs almost nothing', async (_what, request) => {
        const { scans, rows } = await planCosts(db(), await send(request));
        expect({ scans: scans.filter((table) => table in otherRows), rows: Math.max(rows, MAX_ROWS) }).toEqual({
          scans: [],
          rows: MAX_ROWS,
        });
      });
    });
  },
);
