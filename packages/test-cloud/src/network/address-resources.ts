import { formatCidr, parseCidr } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import { fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { put } from '../service/route.js';
import { badRequest, conflict, notFound } from '../service/service-error.js';
import { flag, longText } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { usersOfAddressGroup, usersOfAddressScope } from './sharing-users.js';
import { hiddenStamps, nameFields, ownerFields, resourceNames, standardFields } from './standard-fields.js';
import { ipVersion } from './value-types.js';

const adminWritable = { admin: 'write' } as const;
const addPrefixLength = (written: string) =>
  written.includes('/') ? written : `${written}/${written.includes(':') ? 128 : 32}`;

/** A subnet in CIDR notation. Parsing sets the host bits to 0. */
const cidr = z.string().transform((written, context) => {
  const parsed = parseCidr(written);
  if (parsed) return formatCidr(parsed);
  context.addIssue({ code: 'custom', message: 'is not a valid IP subnet' });
  return z.NEVER;
});
/** The addresses to add to an address group or to remove from it: subnets or single addresses. */
const AddressesBody = z.object({ addresses: z.array(z.string().transform(addPrefixLength).pipe(cidr)).min(1) });

/** Address scopes. Subnet pools in the same scope do not overlap. */
export const addressScopes: ResourceSpec = {
  ...resourceNames('address_scope'),
  fields: () => ({
    ...ownerFields,
    ...hiddenStamps,
    ...nameFields,
    ip_version: required(fixed(ipVersion)),
    shared: settable(flag, false, adminWritable),
  }),
  changing(_call, before, { shared }) {
    if (before.shared === true && shared === false)
      throw badRequest(
        `Unable to update address scope ${before.id} : Shared address scope can't be unshared.`,
        'AddressScopeUpdateError',
      );
  },
  async removing(call, { id }) {
    if ((await usersOfAddressScope(call, id)).length > 0)
      throw conflict(
        `Unable to complete operation on address scope ${id}. There are one or more subnet pools in use on the address scope.`,
        'AddressScopeInUse',
      );
  },
};

/** Named groups of addresses, for use in security group rules. */
export const addressGroups: ResourceSpec = {
  ...resourceNames('address_group'),
  hidesSharedOnChange: true,
  fields: () => ({
    ...standardFields,
    ...nameFields,
    description: settable(longText, ''),
    addresses: fixed(
      z.array(cidr).transform((all) => [...new Set(all)]),
      () => [],
      { filter: false },
    ),
  }),
  async removing(call, { id }) {
    if ((await usersOfAddressGroup(call, id)).length > 0)
      throw networkError('AddressGroupInUse', `Address group ${id} is in use on one or more security group rules.`);
  },
  routes: (resource) =>
    (['add_addresses', 'remove_addresses'] as const).map((action) =>
      put(`/v2.0/address-groups/:id/${action}`, async (call) => {
        const before = await resource.find(call, call.param('id'), 'change', action);
        const previousAddresses = before.addresses as readonly string[];
        const { addresses: requested } = call.body(AddressesBody);
        const conflictingAddresses = requested.filter(
          (address) => previousAddresses.includes(address) === (action === 'add_addresses'),
        );
        if (conflictingAddresses.length > 0)
          throw action === 'add_addresses'
            ? badRequest(
                `Address(es) ${conflictingAddresses} already exist in the address group.`,
                'AddressesAlreadyExist',
              )
            : notFound(`Address(es) ${conflictingAddresses} not found in the address group.`, 'AddressesNotFound');
        const addresses =
          action === 'add_addresses'
            ? [...previousAddresses, ...requested]
            : previousAddresses.filter((address) => !requested.includes(address));
        return { address_group: await resource.apply(call, before, { addresses }) };
      }),
    ),
};
