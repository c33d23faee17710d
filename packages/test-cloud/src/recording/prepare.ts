import type { TestCloud } from '../test-cloud.js';
import { askAsAdmin } from './ask-as-admin.js';
import type { Recorded } from './recorded.js';

type Thing = Readonly<Record<string, any>> & { readonly id: string; readonly name: string };

interface Kind {
  readonly service: string;
  /** Where they are listed, and under which name. */
  readonly list: string;
  readonly plural: string;
  /** Makes one like that of the real cloud. */
  readonly make: (cloud: TestCloud, thing: Thing) => Promise<void>;
}

const SOME_BYTES = new Uint8Array(512);

/** What clients find in a cloud and do not make themselves. */
const KINDS: readonly Kind[] = [
  {
    service: 'compute',
    list: '/compute/v2.1/flavors',
    plural: 'flavors',
    make: async (cloud, { name, vcpus = 1, ram = 512, disk = 1 }) => {
      await askAsAdmin(cloud, 'POST', '/compute/v2.1/flavors', { flavor: { name, vcpus, ram, disk } });
    },
  },
  {
    service: 'image',
    list: '/image/v2/images',
    plural: 'images',
    make: async (cloud, { name, disk_format, container_format }) => {
      const format = { disk_format: disk_format ?? 'raw', container_format: container_format ?? 'bare' };
      const { id } = await askAsAdmin(cloud, 'POST', '/image/v2/images', { name, visibility: 'public', ...format });
      const type = { 'Content-Type': 'application/octet-stream' };
      await askAsAdmin(cloud, 'PUT', `/image/v2/images/${id}/file`, SOME_BYTES, type);
    },
  },
  {
    service: 'network',
    list: '/network/v2.0/networks',
    plural: 'networks',
    make: async (cloud, { name, 'router:external': external = false }) => {
      const body = { network: { name, shared: !external, 'router:external': external } };
      const { network } = await askAsAdmin(cloud, 'POST', '/network/v2.0/networks', body);
      const subnet = { network_id: network.id, ip_version: 4, cidr: '192.168.0.0/16', name: `${name}-subnet` };
      await askAsAdmin(cloud, 'POST', '/network/v2.0/subnets', { subnet });
    },
  },
];

const isThing = (value: unknown): value is Thing =>
  typeof (value as Thing | undefined)?.id === 'string' && typeof (value as Thing).name === 'string';

/** Things of a kind that an answer shows, in a list or alone. */
function shownIn({ responseBody, status }: Recorded, { plural }: Kind): readonly Thing[] {
  if (status >= 300 || typeof responseBody !== 'object' || responseBody === null) return [];
  const body = responseBody as Record<string, unknown>;
  const alone = body[plural.slice(0, -1)] ?? body;
  return [...(Array.isArray(body[plural]) ? (body[plural] as unknown[]) : []), alone].filter(isThing);
}

/** Makes the flavors, images and networks that a recording finds in the real cloud, where the test cloud has none such. */
export async function prepare(entries: readonly Recorded[], cloud: TestCloud): Promise<void> {
  for (const kind of KINDS) {
    const own = entries.filter(({ url }) => url.startsWith(`/${kind.service}/`));
    const made = new Set(
      own
        .filter(({ method }) => method === 'POST')
        .flatMap((entry) => shownIn(entry, kind))
        .map(({ id }) => id),
    );
    const matching = own
      .filter(({ method }) => method === 'GET')
      .flatMap((entry) => shownIn(entry, kind))
      .filter(({ id }) => !made.has(id));
    if (matching.length === 0) continue;
    const here = (await askAsAdmin(cloud, 'GET', kind.list))[kind.plural] as readonly Thing[];
    const names = new Set(here.map(({ name }) => name));
    // The longest view of each knows most.
    const longest = matching.toSorted((a, b) => Object.keys(b).length - Object.keys(a).length);
    for (const thing of longest) {
      if (names.has(thing.name)) continue;
      names.add(thing.name);
      await kind.make(cloud, thing);
    }
  }
}
