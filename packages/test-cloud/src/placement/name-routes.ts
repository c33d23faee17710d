import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, post, put, Reply, type Route } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { since } from './placement-version.js';
import { provider, providers, write } from './providers.js';

/** Classes and traits that everybody knows; names of one's own begin with CUSTOM_. */
const CLASSES = [
  'VCPU',
  'MEMORY_MB',
  'DISK_GB',
  'PCI_DEVICE',
  'SRIOV_NET_VF',
  'NUMA_SOCKET',
  'NUMA_CORE',
  'NUMA_THREAD',
  'NUMA_MEMORY_MB',
  'IPV4_ADDRESS',
  'VGPU',
  'VGPU_DISPLAY_HEAD',
  'NET_BW_EGR_KILOBIT_PER_SEC',
  'NET_BW_IGR_KILOBIT_PER_SEC',
  'PCPU',
  'MEM_ENCRYPTION_CONTEXT',
  'FPGA',
  'PGPU',
  'NET_PACKET_RATE_KILOPACKET_PER_SEC',
];
const TRAITS = [
  'COMPUTE_NODE',
  'COMPUTE_ACCELERATORS',
  'COMPUTE_NET_ATTACH_INTERFACE',
  'COMPUTE_VOLUME_ATTACH',
  'COMPUTE_VOLUME_EXTEND',
  'COMPUTE_VOLUME_MULTI_ATTACH',
  'COMPUTE_STATUS_DISABLED',
  'COMPUTE_RESCUE_BFV',
  'COMPUTE_IMAGE_TYPE_QCOW2',
  'COMPUTE_IMAGE_TYPE_RAW',
  'HW_CPU_X86_AVX',
  'HW_CPU_X86_AVX2',
  'HW_CPU_X86_SSE42',
  'HW_CPU_X86_VMX',
  'HW_CPU_X86_SVM',
  'HW_CPU_HYPERTHREADING',
  'HW_NIC_SRIOV',
  'HW_GPU_API_VULKAN',
  'HW_NUMA_ROOT',
  'STORAGE_DISK_SSD',
  'STORAGE_DISK_HDD',
  'MISC_SHARES_VIA_AGGREGATE',
  'OWNER_NOVA',
  'OWNER_NEUTRON',
];

const CUSTOM = /^CUSTOM_[A-Z0-9_]+$/;
const New = z.strictObject({ name: z.string().regex(CUSTOM).max(255) });

const own = (call: Call, kind: 'classes' | 'traits') => call.cloud.documents.table<true>(`placement/${kind}`);

export const classNames = (call: Call): readonly string[] => [...CLASSES, ...own(call, 'classes').keys()];
const traitNames = (call: Call): readonly string[] => [...TRAITS, ...own(call, 'traits').keys()];

function classRoutes(): readonly Route[] {
  const view = (name: string) => ({ name, links: [{ rel: 'self', href: `/placement/resource_classes/${name}` }] });
  const find = (call: Call) => {
    const name = call.param('name');
    if (!classNames(call).includes(name)) throw notFound(`No such resource class ${name}.`);
    return name;
  };
  const location = (call: Call, name: string) => ({ Location: `${call.base}/resource_classes/${name}` });
  return [
    get('/resource_classes', (call) => ({ resource_classes: classNames(call).map(view) })),
    post('/resource_classes', (call) => {
      const { name } = call.body(New);
      if (classNames(call).includes(name)) throw conflict(`Conflicting resource class already exists: ${name}`);
      own(call, 'classes').set(name, true);
      return new Reply(201, undefined, location(call, name));
    }),
    get('/resource_classes/:name', (call) => view(find(call))),
    put('/resource_classes/:name', (call) => {
      if (!since(call, 7)) {
        // Before 1.7 this renamed a class.
        const before = find(call);
        if (!own(call, 'classes').has(before)) throw badRequest(`Cannot update standard resource class ${before}`);
        const { name } = call.body(New);
        if (classNames(call).includes(name)) throw conflict(`Resource class already exists: ${name}`);
        own(call, 'classes').delete(before);
        own(call, 'classes').set(name, true);
        return view(name);
      }
      const name = call.param('name');
      if (!CUSTOM.test(name)) throw badRequest(`JSON does not validate: '${name}' does not match '${CUSTOM.source}'`);
      const known = classNames(call).includes(name);
      own(call, 'classes').set(name, true);
      return new Reply(known ? 204 : 201, undefined, location(call, name));
    }),
    del('/resource_classes/:name', async (call) => {
      const name = find(call);
      if (CLASSES.includes(name)) throw badRequest(`Cannot delete standard resource class ${name}.`);
      if ([...(await providers(call)).values()].some(({ inventories }) => inventories[name]))
        throw conflict(
          `Error in delete resource class: Cannot delete resource class ${name}. Class is in use in inventory.`,
        );
      own(call, 'classes').delete(name);
      return noContent();
    }),
  ];
}

function traitRoutes(): readonly Route[] {
  const find = (call: Call) => {
    const name = call.param('name');
    if (!traitNames(call).includes(name)) throw notFound(`No such trait(s): ${name}.`);
    return name;
  };
  return [
    get('/traits', async (call) => {
      const written = call.text('name');
      const used = new Set([...(await providers(call)).values()].flatMap(({ traits }) => traits));
      const associated = call.query.has('associated') ? call.flag('associated') : undefined;
      if (written !== undefined && !/^(in|startswith):/.test(written))
        throw badRequest(
          'Badly formatted name parameter. Expected name query string parameter in form: ?name=[in|startswith]:[name1,name2|prefix].',
          'placement.query.bad_value',
        );
      const value = written?.slice(written.indexOf(':') + 1) ?? '';
      const named = (name: string) =>
        written === undefined || (written.startsWith('in:') ? value.split(',').includes(name) : name.startsWith(value));
      return {
        traits: traitNames(call).filter(
          (name) => named(name) && (associated === undefined || used.has(name) === associated),
        ),
      };
    }),
    get('/traits/:name', (call) => {
      find(call);
      return noContent();
    }),
    put('/traits/:name', (call) => {
      const name = call.param('name');
      if (!CUSTOM.test(name) || name.length > 255)
        throw badRequest(
          `The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"`,
        );
      const known = own(call, 'traits').has(name);
      own(call, 'traits').set(name, true);
      return new Reply(known ? 204 : 201, undefined, { Location: `${call.base}/traits/${name}` });
    }),
    del('/traits/:name', async (call) => {
      const name = find(call);
      if (TRAITS.includes(name)) throw badRequest(`Cannot delete standard trait ${name}.`);
      if ([...(await providers(call)).values()].some(({ traits }) => traits.includes(name)))
        throw conflict(`The trait ${name} is in use by a resource provider.`);
      own(call, 'traits').delete(name);
      return noContent();
    }),
    ...providerTraitRoutes(),
  ];
}

function providerTraitRoutes(): readonly Route[] {
  const path = '/resource_providers/:id/traits';
  const view = ({ traits, generation }: { traits: readonly string[]; generation: number }) => ({
    traits,
    resource_provider_generation: generation,
  });
  const Traits = z.strictObject({ traits: z.array(z.string()), resource_provider_generation: z.number().int() });
  return [
    get(path, async (call) => view(await provider(call))),
    put(path, async (call) => {
      const before = await provider(call);
      const { traits, resource_provider_generation } = call.body(Traits);
      const stray = traits.filter((name) => !traitNames(call).includes(name));
      if (stray.length > 0) throw badRequest(`No such trait ${stray.join(', ')}`);
      return view(write(call, before, { traits: [...new Set(traits)] }, resource_provider_generation));
    }),
    del(path, async (call) => {
      write(call, await provider(call), { traits: [] });
      return noContent();
    }),
  ];
}

/** The words of the service: classes of what is given, and traits of who gives it. */
export function nameRoutes(): readonly Route[] {
  return [...classRoutes(), ...traitRoutes()];
}
