import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import { ifMissing } from '../service/if-missing.js';
import type { Wire } from '../service/listing.js';
import type { ResourceSpec } from '../service/resource.js';
import { get, put } from '../service/route.js';
import { conflict, notFound } from '../service/service-error.js';
import { anyId, flag, wholeBetween } from '../service/wire-types.js';
import { named, standardFields } from './standard-fields.js';

const subPort = z.strictObject({
  port_id: anyId,
  segmentation_type: z.enum(['vlan', 'inherit']).default('vlan'),
  segmentation_id: wholeBetween(1, 4094).optional(),
});
const SubPorts = z.object({ sub_ports: z.array(subPort).min(1) });

const trunksOf = (call: Call) => [...call.cloud.documents.table<Doc>('network/trunks').values()];
const subPortsOf = (trunk: Wire) => trunk.sub_ports as readonly z.infer<typeof subPort>[];

/** A port is in one trunk at the most, once, and each number of a trunk leads to one of them. */
async function refuseTaken(call: Call, had: readonly Wire[], requested: readonly Wire[]): Promise<void> {
  const everywhere = new Set(
    trunksOf(call).flatMap((trunk) => [trunk.port_id, ...subPortsOf(trunk).map((sub) => sub.port_id)]),
  );
  const numbers = new Set(had.map(({ segmentation_id }) => segmentation_id));
  for (const { port_id, segmentation_id } of requested) {
    await call.cloud.catalogs.networks.getPort(call.caller, String(port_id));
    if (everywhere.has(port_id)) throw conflict(`Port ${port_id} is in use by another trunk.`, 'PortInUseAsSubPort');
    if (segmentation_id !== undefined && numbers.has(segmentation_id))
      throw conflict(
        `segmentation_type vlan and segmentation_id ${segmentation_id} already in use on trunk.`,
        'DuplicateSubPort',
      );
    everywhere.add(port_id);
    numbers.add(segmentation_id);
  }
}

/** Ports that carry other ports. */
export const trunks: ResourceSpec = {
  path: 'trunks',
  one: 'trunk',
  many: 'trunks',
  tags: true,
  fields: () => ({
    ...standardFields,
    ...named,
    admin_state_up: settable(flag, true),
    port_id: required(fixed(anyId)),
    status: derived('DOWN'),
    sub_ports: fixed(z.array(subPort), () => [], { filter: false }),
  }),
  async creating(call, { port_id, sub_ports }) {
    await call.cloud.catalogs.networks.getPort(call.caller, String(port_id));
    if (trunksOf(call).some((trunk) => trunk.port_id === port_id))
      throw conflict(`Port ${port_id} is already a parent port of a trunk.`, 'ParentPortInUse');
    await refuseTaken(call, [], sub_ports as readonly Wire[]);
  },
  async removing(call, { id, port_id }) {
    const port = await call.cloud.catalogs.networks.getPort(call.caller, String(port_id)).catch(ifMissing);
    if (port?.deviceId) throw conflict(`Trunk ${id} is currently in use.`, 'TrunkInUse');
  },
  routes: (resource) => [
    get('/v2.0/trunks/:id/get_subports', async (call) => ({
      sub_ports: (await resource.find(call, call.param('id'))).sub_ports,
    })),
    put('/v2.0/trunks/:id/add_subports', async (call) => {
      const before = await resource.find(call, call.param('id'), 'change');
      const { sub_ports: added } = call.body(SubPorts);
      await refuseTaken(call, subPortsOf(before), added);
      return resource.apply(call, before, { sub_ports: [...subPortsOf(before), ...added] });
    }),
    put('/v2.0/trunks/:id/remove_subports', async (call) => {
      const before = await resource.find(call, call.param('id'), 'change');
      const gone = call.body(z.object({ sub_ports: z.array(z.object({ port_id: anyId })).min(1) })).sub_ports;
      const missing = gone.find(({ port_id }) => !subPortsOf(before).some((sub) => sub.port_id === port_id));
      if (missing)
        throw notFound(
          `SubPort on trunk ${before.id} with parent port ${missing.port_id} could not be found.`,
          'SubPortNotFound',
        );
      const left = subPortsOf(before).filter((sub) => !gone.some(({ port_id }) => port_id === sub.port_id));
      return resource.apply(call, before, { sub_ports: left });
    }),
  ],
};
