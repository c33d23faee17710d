import type { TestCloud } from '../test-cloud.js';
import type { Recorded } from './recorded.js';
import { requestAsAdmin } from './request-as-admin.js';

type Resource = Readonly<Record<string, any>> & { readonly id: string; readonly name: string };

interface ResourceKind {
  readonly service: string;
  /** The path that lists the resources, and the key of the list in the response. */
  readonly list: string;
  readonly plural: string;
  /** Creates a resource that is similar to one in the real cloud. */
  readonly create: (cloud: TestCloud, resource: Resource) => Promise<void>;
}

const SAMPLE_BYTES = new Uint8Array(512);

/** The kinds of resources that clients expect to exist in a cloud. */
const RESOURCE_KINDS: readonly ResourceKind[] = [
  {
    service: 'compute',
    list: '/compute/v2.1/flavors',
    plural: 'flavors',
    create: async (cloud, { name, vcpus = 1, ram = 512, disk = 1 }) => {
      await requestAsAdmin(cloud, 'POST', '/compute/v2.1/flavors', { flavor: { name, vcpus, ram, disk } });
    },
  },
  {
    service: 'image',
    list: '/image/v2/images',
    plural: 'images',
    create: async (cloud, { name, disk_format, container_format }) => {
      const format = { disk_format: disk_format ?? 'raw', container_format: container_format ?? 'bare' };
      const { id } = await requestAsAdmin(cloud, 'POST', '/image/v2/images', { name, visibility: 'public', ...format });
      const type = { 'Content-Type': 'application/octet-stream' };
      await requestAsAdmin(cloud, 'PUT', `/image/v2/images/${id}/file`, SAMPLE_BYTES, type);
    },
  },
  {
    service: 'network',
    list: '/network/v2.0/networks',
    plural: 'networks',
    create: async (cloud, { name, 'router:external': external = false }) => {
      const body = { network: { name, shared: !external, 'router:external': external } };
      const { network } = await requestAsAdmin(cloud, 'POST', '/network/v2.0/networks', body);
      const subnet = { network_id: network.id, ip_version: 4, cidr: '192.168.0.0/16', name: `${name}-subnet` };
      await requestAsAdmin(cloud, 'POST', '/network/v2.0/subnets', { subnet });
    },
  },
];

const isResource = (value: unknown): value is Resource =>
  typeof (value as Resource | undefined)?.id === 'string' && typeof (value as Resource).name === 'string';

/** Returns the resources of one kind in a recorded response. */
function resourcesIn({ responseBody, status }: Recorded, { plural }: ResourceKind): readonly Resource[] {
  if (status >= 300 || typeof responseBody !== 'object' || responseBody === null) return [];
  const body = responseBody as Record<string, unknown>;
  const resourceOrBody = body[plural.slice(0, -1)] ?? body;
  return [...(Array.isArray(body[plural]) ? (body[plural] as unknown[]) : []), resourceOrBody].filter(isResource);
}

/** Creates the flavors, images and networks that a recording uses and that the test cloud does not have. */
export async function createMissingResources(entries: readonly Recorded[], cloud: TestCloud): Promise<void> {
  for (const kind of RESOURCE_KINDS) {
    const serviceEntries = entries.filter(({ url }) => url.startsWith(`/${kind.service}/`));
    const createdIds = new Set(
      serviceEntries
        .filter(({ method }) => method === 'POST')
        .flatMap((entry) => resourcesIn(entry, kind))
        .map(({ id }) => id),
    );
    const recordedResources = serviceEntries
      .filter(({ method }) => method === 'GET')
      .flatMap((entry) => resourcesIn(entry, kind))
      .filter(({ id }) => !createdIds.has(id));
    if (recordedResources.length === 0) continue;
    const testCloudResources = (await requestAsAdmin(cloud, 'GET', kind.list))[kind.plural] as readonly Resource[];
    const names = new Set(testCloudResources.map(({ name }) => name));
    // Of several recorded views of a resource, the one with the most fields is used.
    const sortedByFieldCount = recordedResources.toSorted((a, b) => Object.keys(b).length - Object.keys(a).length);
    for (const resource of sortedByFieldCount) {
      if (names.has(resource.name)) continue;
      names.add(resource.name);
      await kind.create(cloud, resource);
    }
  }
}
