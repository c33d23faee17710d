import type { Random } from './random.js';

/** The maximum number of stored ids per collection. */
const MAX_IDS = 30;

/** Ids of resources in the server's preset, and names for request bodies. */
const PRESET: Readonly<Record<string, readonly string[]>> = {
  flavors: ['1', '2', '3'],
  images: ['70a599e0-31e7-49b7-b260-868f441e862b'],
  metadata: ['key'],
  'os-extra_specs': ['key'],
  'os-availability-zone': ['nova'],
  'os-quota-sets': ['demo', 'other'],
  'os-quota-class-sets': ['default'],
  'os-simple-tenant-usage': ['demo'],
  'project-quotas': ['demo', 'other'],
};

/**
 * Collections whose initial resources are never changed or deleted: without them, no more servers could be created.
 */
const UNCHANGED = new Set(['images', 'flavors', 'os-quota-sets', 'os-quota-class-sets']);
const CHANGING_METHODS = new Set(['PUT', 'DELETE']);

/** Path segments that are followed by ids of another collection, and those that are not followed by an id. */
const ALIASES: Readonly<Record<string, string>> = { 'os-volumes_boot': 'servers', consoles: 'remote-consoles' };
const SEGMENTS_WITHOUT_IDS = new Set(['detail', 'action']);

/** Fields that identify an object, in order of preference. */
const IDENTIFYING_FIELDS = ['id', 'uuid', 'name', 'host_name', 'agent_id', 'port_id', 'request_id', 'zoneName'];

/** Request body fields that refer to a resource, with the collection that lists the resource. */
const COLLECTION_BY_FIELD: Readonly<Record<string, string>> = {
  imageRef: 'images',
  image_id: 'images',
  flavorRef: 'flavors',
  key_name: 'os-keypairs',
  availability_zone: 'os-availability-zone',
  host: 'os-hosts',
  hypervisor_hostname: 'os-hosts',
  server_uuid: 'servers',
  instance_uuid: 'servers',
  volumeId: 'os-volumes',
  volume_id: 'os-volumes',
  snapshot_id: 'os-snapshots',
  uuid: 'os-networks',
  net_id: 'os-networks',
  networkId: 'os-networks',
  address: 'os-floating-ips',
  port_id: 'os-interface',
  group: 'os-server-groups',
  tenant: 'os-quota-sets',
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the id or name in an entry of a response: `{"id": "7"}`, `{"keypair": {"name": "mine"}}` or a string. */
function nameOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  if (!isObject(entry)) return undefined;
  const name = IDENTIFYING_FIELDS.map((member) => entry[member]).find((value) =>
    ['string', 'number'].includes(typeof value),
  );
  if (name !== undefined) return String(name);
  const [only, another] = Object.values(entry);
  return isObject(only) && another === undefined ? nameOf(only) : undefined;
}

/** Ids and names of existing resources, by collection. */
export class KnownIds {
  readonly #byCollection = new Map<string, string[]>(Object.entries(PRESET).map(([name, ids]) => [name, [...ids]]));

  /** Reads the ids in a response: `{"servers": [{"id": ...}]}` or `{"server": {"id": ...}}`. */
  learn(path: string, response: string): void {
    if (!response.startsWith('{')) return;
    const part = path.split('/').findLast((one) => !one.startsWith('{') && !SEGMENTS_WITHOUT_IDS.has(one))!;
    const collection = ALIASES[part] ?? part;
    const [content] = Object.values(JSON.parse(response));
    const found = (Array.isArray(content) ? content : [content]).map(nameOf).filter((name) => name !== undefined);
    if (found.length === 0) return;
    const before = this.#byCollection.get(collection) ?? [];
    const first = PRESET[collection] ?? [];
    this.#byCollection.set(collection, [...new Set([...first, ...found.slice(0, 8), ...before])].slice(0, MAX_IDS));
  }

  /** Returns an id of a collection, preferably a recent one; sometimes one of another collection. */
  pickId(collection: string, random: Random): string {
    const ids = random.chance(0.95) ? this.#byCollection.get(ALIASES[collection] ?? collection) : undefined;
    const from = ids ?? random.pick([...this.#byCollection.values()]);
    return from[Math.floor(random.next() * random.next() * from.length)]!;
  }

  /** Returns a value for a request body field with this name. */
  valueForField(member: string, random: Random): string {
    return this.pickId(COLLECTION_BY_FIELD[member] ?? member, random);
  }

  /** Returns a path with values for its parameters: `/servers/{id}/tags/{tag}`. */
  fillPath({ method, path }: { method: string; path: string }, random: Random, odd: readonly string[]): string {
    return path.replaceAll(/([^/]+)\/\{[^}]+\}/g, (_, collection: string) => {
      const chosen = random.chance(0.04) ? random.pick(odd) : this.pickId(collection, random);
      const isUnchanged =
        UNCHANGED.has(collection) && CHANGING_METHODS.has(method) && PRESET[collection]!.includes(chosen);
      const id = isUnchanged ? 'spared' : chosen;
      return `${collection}/${encodeURIComponent((id as any).toWellFormed())}`;
    });
  }
}
