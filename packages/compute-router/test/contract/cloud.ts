import { randomUUID } from 'node:crypto';
import { defaultPreset } from '@apistrata/compute-engine';
import type { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { coreOf } from '@apistrata/compute-engine/testing';
import type { Policies } from '../../src/index.js';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';
import { LATEST } from './reference.js';

/** The owner of all resources; as an administrator, the owner may run every operation. */
export const OWNER = 'admin:p1';
const owner = { userId: 'admin', projectId: 'p1', roles: ['admin'], isAdmin: true };

const hosts = Array.from({ length: 60 }, (_, index) => ({
  name: `host${index}`,
  vcpus: 64,
  memoryMb: 262_144,
  diskGb: 4096,
}));

const unlimited = { instances: -1, cores: -1, ram: -1, key_pairs: -1, server_groups: -1 };

/** A cloud that creates, on demand, everything that operations need to succeed. */
export class Cloud {
  readonly api: Api;
  readonly ids = ids;
  /** The ids, and names of key pairs, of all resources of the owner. */
  readonly owned = new Set<string>();
  readonly #owner: string;
  #count = 0;

  constructor(api: Api, owner: string) {
    this.api = api;
    this.#owner = owner;
  }

  /** @param options.owner the administrator's token, if the policies require another one */
  static async open(options: { readonly owner?: string; readonly policies?: Policies } = {}): Promise<Cloud> {
    const api = await apiUnderTest({
      preset: { ...defaultPreset, hosts },
      engine: { settings: { quotas: unlimited as never, reclaimSeconds: 3600, shelvedOffloadSeconds: -1 } },
      router: { maxVersion: LATEST, policies: options.policies },
    });
    return new Cloud(api, options.owner ?? OWNER);
  }

  #own(name: string): string {
    this.owned.add(name);
    return name;
  }

  as(version: string): Client {
    return this.api.as(this.#owner, version);
  }

  /** Returns an unused name. */
  name(prefix = 'thing'): string {
    return `${prefix}-${++this.#count}`;
  }

  get driver(): SimulatedDriver {
    return coreOf(this.api.engine).driver as SimulatedDriver;
  }

  /** Creates a server and runs these actions on it; returns `{ id, name, ... }` as shown at 2.35. */
  async server(actions: readonly (string | readonly [string, unknown])[] = [], fields = {}): Promise<any> {
    const server = await this.as('2.35').boot({ name: this.name('server'), ...fields });
    this.#own(server.id);
    for (const action of actions) {
      const [key, argument] = typeof action === 'string' ? [action, null] : action;
      const { status, body } = await this.as('2.35').act(server.id, key, argument);
      if (status >= 300) throw new Error(`${key}: ${status} ${JSON.stringify(body)}`);
    }
    return server;
  }

  /** Creates a server on a network. */
  connected(): Promise<any> {
    return this.server([], { networks: [{ uuid: ids.network }] });
  }

  async hostOf(serverId: string): Promise<string> {
    return (await this.as('2.35').get(`/servers/${serverId}`)).body.server['OS-EXT-SRV-ATTR:host'];
  }

  async image(properties: Readonly<Record<string, string>> = { colour: 'blue' }): Promise<string> {
    const id = this.#own(randomUUID());
    await this.api.engine.catalogs.images.create(owner, { id, name: this.name('image'), properties });
    return id;
  }

  async volume(): Promise<string> {
    const { id } = await this.api.engine.catalogs.volumes.createVolume(owner, { key: randomUUID(), sizeGb: 1 });
    return this.#own(id);
  }

  async snapshot(): Promise<string> {
    const key = randomUUID();
    const volumeId = await this.volume();
    return this.#own((await this.api.engine.catalogs.volumes.createSnapshot(owner, { key, volumeId })).id);
  }

  async share(): Promise<string> {
    return this.#own((await this.api.engine.embedded.shares.create(owner, {})).id);
  }

  async floatingIp(): Promise<{ readonly id: string; readonly address: string }> {
    const allocated = await this.api.engine.catalogs.networks.allocateFloatingIp(owner);
    this.#own(allocated.id);
    return allocated;
  }

  async securityGroup(): Promise<string> {
    const name = this.name('group');
    return this.#own((await this.api.engine.catalogs.networks.createSecurityGroup(owner, { name })).id);
  }

  /** Creates a server with a volume; returns both ids. */
  async attached(): Promise<{ readonly server_id: string; readonly id: string }> {
    const { id: server_id } = await this.server();
    const id = await this.volume();
    await this.made(
      this.as('2.35').post(`/servers/${server_id}/os-volume_attachments`, { volumeAttachment: { volumeId: id } }),
    );
    await this.api.idle();
    return { server_id, id };
  }

  beginVolumeMigration(volumeId: string): Promise<string> {
    return this.api.engine.embedded.volumes.beginMigration(owner, volumeId);
  }

  /** Creates a stopped server with a share; returns both ids. */
  async shared(): Promise<{ readonly server_id: string; readonly id: string }> {
    const { id: server_id } = await this.server(['os-stop']);
    const id = await this.share();
    await this.made(this.as('2.97').post(`/servers/${server_id}/shares`, { share: { share_id: id } }));
    await this.api.idle();
    return { server_id, id };
  }

  /** Creates a server in a live migration that does not complete before `release()`. */
  async moving(): Promise<{ readonly server_id: string; readonly id: string; readonly release: () => Promise<void> }> {
    const { id: server_id, name } = await this.server();
    const rule = this.driver.addRule({ match: { name, verb: 'live_migration_run' }, hang: true });
    const release = async () => {
      rule.release();
      await this.api.idle();
      rule.remove();
    };
    const body = { 'os-migrateLive': { host: null, block_migration: 'auto' } };
    await this.made(this.as('2.68').post(`/servers/${server_id}/action`, body));
    for (;;) {
      const { migrations } = (await this.as('2.68').get(`/servers/${server_id}/migrations`)).body;
      if (migrations[0]?.status === 'running') return { server_id, id: String(migrations[0].id), release };
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async aggregate(host?: string): Promise<string> {
    const client = this.as('2.1');
    const { aggregate } = await this.made(
      client.post('/os-aggregates', { aggregate: { name: this.name('aggregate') } }),
    );
    if (host) await this.made(client.post(`/os-aggregates/${aggregate.id}/action`, { add_host: { host } }));
    return String(aggregate.id);
  }

  async flavor(fields = {}): Promise<string> {
    const flavor = { name: this.name('flavor'), ram: 64, vcpus: 1, disk: 1, ...fields };
    const { id } = (await this.made(this.as('2.1').post('/flavors', { flavor }))).flavor;
    await this.made(this.as('2.1').post(`/flavors/${id}/os-extra_specs`, { extra_specs: { colour: 'blue' } }));
    return id;
  }

  /** Grants a project access to a private flavor. */
  async allow(flavor: string, tenant: string): Promise<void> {
    await this.made(this.as('2.1').post(`/flavors/${flavor}/action`, { addTenantAccess: { tenant } }));
  }

  async group(): Promise<string> {
    const server_group = { name: this.name('group'), policies: ['affinity'] };
    const created = await this.made(this.as('2.1').post('/os-server-groups', { server_group }));
    return this.#own(created.server_group.id);
  }

  async keypair(): Promise<string> {
    const name = this.name('key');
    await this.made(this.as('2.1').post('/os-keypairs', { keypair: { name, public_key: PUBLIC_KEY } }));
    return this.#own(name);
  }

  /** Returns the id that the compute service of a host has at a version. */
  async serviceId(host: string, version: string): Promise<string> {
    const { services } = (await this.as(version).get('/os-services?binary=nova-compute')).body;
    return String(services.find((service: any) => service.host === host).id);
  }

  async hypervisorId(version: string): Promise<string> {
    return String((await this.as(version).get('/os-hypervisors')).body.hypervisors[0].id);
  }

  /** Returns a host without servers. Each call returns a different host. */
  idleHost(): string {
    return hosts[hosts.length - 1 - this.#idle++]!.name;
  }
  #idle = 0;

  /** Returns the body of a successful response. */
  async made(response: ReturnType<Client['get']>): Promise<any> {
    const { status, body } = await response;
    if (status >= 300) throw new Error(`the contract's cloud could not be prepared: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Returns all resources of the owner's project, and of the deployment, as text. */
  async world(): Promise<string> {
    const parts: unknown[] = [];
    const member = (version: string) => this.api.as('ada:p1', version);
    for (const path of ['/images/detail', '/os-volumes', '/os-snapshots', '/os-security-groups', '/os-floating-ips'])
      parts.push(await this.made(member('2.35').get(path)));
    for (const path of ['/servers/detail', '/os-server-groups', '/os-quota-sets/p1'])
      parts.push(await this.made(member('2.100').get(path)));
    const paths = ['/os-keypairs', '/os-quota-class-sets/default', '/os-aggregates', '/flavors/detail?is_public=None'];
    for (const path of paths) parts.push(await this.made(this.as('2.100').get(path)));
    const { services } = await this.made(this.as('2.100').get('/os-services'));
    // The time is omitted, because the heartbeats of live hosts update it.
    parts.push(services.map(({ updated_at: _, ...service }: any) => service));
    return JSON.stringify(parts, null, 1);
  }
}

export const PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGqt2M9JbCPRDVnbHAl7SMUhMHKsLgG7o6x7ZMCI1Mhe ada@example';
