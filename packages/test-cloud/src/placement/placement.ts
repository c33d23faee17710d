import { STATUS_CODES } from 'node:http';
import type { Engine } from '@apistrata/compute-engine';
import { microversion } from '@apistrata/microversion';
import type { Call } from '../service/call.js';
import { filtered } from '../service/listing.js';
import { get, openGet, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { standIn } from '../service/stand-in.js';

const MIN_VERSION = '1.0';
const MAX_VERSION = '1.39';

function routes(engine: () => Engine): readonly Route[] {
  async function hosts(call: Call) {
    call.requireAdmin();
    return [...(await engine().infrastructure.hosts()).hosts.values()];
  }

  async function one(call: Call) {
    const host = (await hosts(call)).find(({ node }) => node.id === call.param('id'));
    if (!host) throw notFound(`No resource provider with uuid ${call.param('id')} found`);
    return host.node;
  }

  const inventory = (total: number, allocationRatio: number) => ({
    total,
    reserved: 0,
    min_unit: 1,
    max_unit: total,
    step_size: 1,
    allocation_ratio: allocationRatio,
  });

  return [
    openGet('/', () => ({
      versions: [
        {
          id: 'v1.0',
          status: 'CURRENT',
          min_version: MIN_VERSION,
          max_version: MAX_VERSION,
          links: [{ rel: 'self', href: '' }],
        },
      ],
    })),
    get('/resource_providers', async (call) => {
      const providers = (await hosts(call)).map(({ node }) => ({
        uuid: node.id,
        name: node.hypervisorHostname,
        generation: 0,
        root_provider_uuid: node.id,
        parent_provider_uuid: null,
        links: ['', '/inventories', '/usages', '/aggregates', '/traits', '/allocations'].map((path) => ({
          rel: path.slice(1) || 'self',
          href: `/placement/resource_providers/${node.id}${path}`,
        })),
      }));
      return { resource_providers: filtered(providers, call.query, ['name', 'uuid']) };
    }),
    get('/resource_providers/:id', async (call) => {
      const node = await one(call);
      return {
        uuid: node.id,
        name: node.hypervisorHostname,
        generation: 0,
        root_provider_uuid: node.id,
        parent_provider_uuid: null,
        links: [],
      };
    }),
    get('/resource_providers/:id/inventories', async (call) => {
      const node = await one(call);
      return {
        resource_provider_generation: 0,
        inventories: {
          VCPU: inventory(node.vcpus, node.cpuAllocationRatio),
          MEMORY_MB: inventory(node.memoryMb, node.ramAllocationRatio),
          DISK_GB: inventory(node.localGb, node.diskAllocationRatio),
        },
      };
    }),
    get('/resource_providers/:id/traits', async (call) => {
      await one(call);
      return { resource_provider_generation: 0, traits: [] };
    }),
    get('/resource_classes', () => ({
      resource_classes: ['VCPU', 'MEMORY_MB', 'DISK_GB'].map((name) => ({ name, links: [] })),
    })),
    get('/traits', () => ({ traits: [] })),
  ];
}

/** The placement service, as far as clients look at it: the hosts and what they offer. */
export function placementService(engine: () => Engine) {
  const negotiate = microversion({
    service: 'placement',
    min: MIN_VERSION,
    max: MAX_VERSION,
    headers: { typed: ['OpenStack-API-Version'] },
  });
  return standIn({
    name: 'placement',
    before: () => negotiate,
    routes: () => routes(engine),
    fault: ({ status, message }) => ({
      errors: [{ status, title: STATUS_CODES[status], detail: message, code: 'placement.undefined_code' }],
    }),
  });
}
