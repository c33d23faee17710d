import { sendRequest } from './program.js';

const NETWORK = '/network/v2.0';
const VOLUME = '/volume/v3';
const IDENTITY = '/identity/v3';
const COMPUTE = '/compute/v2.1';

/** A request: method, path, body. */
export type CloudRequest = readonly [method: string, path: string, body?: unknown];

export interface SentRequest {
  /** The method and the path, without ids. */
  readonly name: string;
  readonly status: number;
  readonly body: any;
}

const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000';
const below = (limit: number) => Math.floor(Math.random() * limit);
const name = () => `n${below(30)}`;
const oneOf = <T>(...values: readonly T[]): T => values[below(values.length)]!;

/**
 * Sends random requests to the services of a cloud. They create, change, connect and delete a few resources that all
 * callers share, so that concurrent requests often concern the same resources.
 */
export class RandomCloudRequests {
  readonly #url: string;
  readonly #token: string;
  /** Ids of the existing resources, by type. */
  readonly #ids = new Map<string, string[]>();

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  add(type: string, id: string): void {
    this.#ids.set(type, [...(this.#ids.get(type) ?? []), id]);
  }

  #pick(type: string): string {
    const ids = this.#ids.get(type) ?? [];
    return ids[below(ids.length)] ?? UNKNOWN_ID;
  }

  /** The resources that are created and deleted: their collection, the key of their representation, and its content. */
  readonly #resources: Readonly<Record<string, readonly [string, string, () => Record<string, unknown>]>> = {
    network: [`${NETWORK}/networks`, 'network', () => ({ name: name() })],
    subnet: [
      `${NETWORK}/subnets`,
      'subnet',
      () => ({ network_id: this.#pick('network'), ip_version: 4, cidr: `10.${below(4)}.${below(4)}.0/28` }),
    ],
    port: [`${NETWORK}/ports`, 'port', () => ({ network_id: this.#pick('network') })],
    router: [
      `${NETWORK}/routers`,
      'router',
      () => ({ external_gateway_info: oneOf(null, { network_id: this.#pick('external') }) }),
    ],
    floatingIp: [
      `${NETWORK}/floatingips`,
      'floatingip',
      () => ({ floating_network_id: this.#pick('external'), port_id: oneOf(null, this.#pick('port')) }),
    ],
    securityGroup: [`${NETWORK}/security-groups`, 'security_group', () => ({ name: name() })],
    trunk: [`${NETWORK}/trunks`, 'trunk', () => ({ port_id: this.#pick('port') })],
    volume: [
      `${VOLUME}/volumes`,
      'volume',
      () => ({ size: 1, name: name(), ...(below(3) === 0 && { snapshot_id: this.#pick('snapshot') }) }),
    ],
    snapshot: [`${VOLUME}/snapshots`, 'snapshot', () => ({ volume_id: this.#pick('volume'), force: true })],
    backup: [`${VOLUME}/backups`, 'backup', () => ({ volume_id: this.#pick('volume'), force: true })],
    transfer: [`${VOLUME}/volume-transfers`, 'transfer', () => ({ volume_id: this.#pick('volume') })],
    project: [`${IDENTITY}/projects`, 'project', () => ({ name: name() })],
    role: [`${IDENTITY}/roles`, 'role', () => ({ name: name() })],
    group: [`${IDENTITY}/groups`, 'group', () => ({ name: name() })],
    server: [
      `${COMPUTE}/servers`,
      'server',
      () => ({
        name: name(),
        flavorRef: '1',
        imageRef: this.#pick('image'),
        networks: [oneOf({ uuid: this.#pick('network') }, { port: this.#pick('port') })],
      }),
    ],
  };

  /** Changes of resources, and of their connections. */
  readonly #changes: readonly (() => CloudRequest)[] = [
    () => ['PUT', `${NETWORK}/networks/${this.#pick('network')}`, { network: { mtu: 1400 + below(50) } }],
    () => ['PUT', `${NETWORK}/subnets/${this.#pick('subnet')}`, { subnet: { enable_dhcp: oneOf(true, false) } }],
    () => [
      'PUT',
      `${NETWORK}/ports/${this.#pick('port')}`,
      {
        port: oneOf<Record<string, unknown>>(
          { security_groups: [this.#pick('securityGroup')] },
          { fixed_ips: [{ subnet_id: this.#pick('subnet') }] },
        ),
      },
    ],
    () => [
      'PUT',
      `${NETWORK}/routers/${this.#pick('router')}/${oneOf('add', 'remove')}_router_interface`,
      { subnet_id: this.#pick('subnet') },
    ],
    () => [
      'PUT',
      `${NETWORK}/routers/${this.#pick('router')}`,
      { router: { external_gateway_info: oneOf({}, { network_id: this.#pick('external') }) } },
    ],
    () => [
      'PUT',
      `${NETWORK}/floatingips/${this.#pick('floatingIp')}`,
      { floatingip: { port_id: oneOf(null, this.#pick('port')) } },
    ],
    () => [
      'PUT',
      `${NETWORK}/trunks/${this.#pick('trunk')}/add_subports`,
      { sub_ports: [{ port_id: this.#pick('port'), segmentation_type: 'vlan', segmentation_id: below(20) + 1 }] },
    ],
    () => ['POST', `${VOLUME}/volumes/${this.#pick('volume')}/action`, { 'os-extend': { new_size: 2 + below(3) } }],
    () => ['POST', `${VOLUME}/volumes/${this.#pick('volume')}/metadata`, { metadata: { [name()]: name() } }],
    () => [
      oneOf('PUT', 'DELETE'),
      `${IDENTITY}/projects/${this.#pick('project')}/groups/${this.#pick('group')}/roles/${this.#pick('role')}`,
    ],
    () => [
      'POST',
      `${COMPUTE}/servers/${this.#pick('server')}/os-volume_attachments`,
      { volumeAttachment: { volumeId: this.#pick('volume') } },
    ],
    () => ['DELETE', `${COMPUTE}/servers/${this.#pick('server')}/os-volume_attachments/${this.#pick('volume')}`],
    () => [
      'POST',
      `${COMPUTE}/servers/${this.#pick('server')}/os-interface`,
      { interfaceAttachment: oneOf({ net_id: this.#pick('network') }, { port_id: this.#pick('port') }) },
    ],
    () => ['DELETE', `${COMPUTE}/servers/${this.#pick('server')}/os-interface/${this.#pick('port')}`],
    () => [
      'POST',
      `${COMPUTE}/servers/${this.#pick('server')}/action`,
      oneOf<unknown>({ shelve: null }, { unshelve: null }, { resize: { flavorRef: '2' } }, { confirmResize: null }),
    ],
  ];

  /** Creates one resource of a type. */
  async create(type: string): Promise<SentRequest> {
    const [path, key, content] = this.#resources[type]!;
    const sent = await this.send('POST', path, { [key]: content() });
    const id = sent.body?.[key]?.id;
    if (id) this.add(type, id);
    return sent;
  }

  async #delete(type: string): Promise<SentRequest> {
    const id = this.#pick(type);
    const sent = await this.send('DELETE', `${this.#resources[type]![0]}/${id}`);
    if (sent.status < 300) this.#ids.set(type, this.#ids.get(type)?.filter((other) => other !== id) ?? []);
    return sent;
  }

  /** Sends one random request. */
  sendOne(): Promise<SentRequest> {
    const type = oneOf(...Object.keys(this.#resources));
    const kind = below(5);
    if (kind < 2) return this.create(type);
    return kind < 3 ? this.#delete(type) : this.send(...oneOf(...this.#changes)());
  }

  async send(...[method, path, body]: CloudRequest): Promise<SentRequest> {
    const response = await sendRequest(this.#url, method, path, { token: this.#token, version: '2.90', body });
    return { name: `${method} ${path.replaceAll(/[0-9a-f-]{32,36}/g, '{id}')}`, ...response };
  }
}
