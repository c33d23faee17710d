import { z } from 'zod';
import type { Call } from '../service/call.js';
import { derived, fixed, required } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { get, type Route } from '../service/route.js';
import { badRequest, forbidden, notFound } from '../service/service-error.js';
import { formatMicrosUtc } from '../service/times.js';
import { withoutFields } from '../service/view.js';
import type { Wire } from '../service/wire.js';
import { strictFlag } from '../service/wire-types.js';
import { authorize } from './authorize.js';
import { callerToken, forbiddenAction, rejectApplicationCredentials } from './delegation.js';
import { listOf } from './identity-style.js';
import { recordTarget } from './record-policy.js';
import { RoleRef, resolveRoleId } from './role-ref.js';
import { Timestamp } from './timestamp.js';

/** The maximum depth of redelegation. */
const MAX_REDELEGATIONS = 3;

const wireTimestamp = Timestamp.transform(formatMicrosUtc);

const roleWithLinks = (call: Call, id: unknown): Wire => ({
  ...call.cloud.directory.state.roles.get(String(id)),
  links: { self: `${call.base}/v3/roles/${id}` },
});

/** Returns the redelegation depth of a new trust. */
function redelegationDepth({ allow_redelegation, redelegation_count, remaining_uses }: Wire): number {
  if (allow_redelegation !== true || redelegation_count === 0) return 0;
  const depth = redelegation_count == null ? MAX_REDELEGATIONS : Number(redelegation_count);
  if (depth > MAX_REDELEGATIONS)
    throw forbidden(`Requested redelegation depth of ${depth} is greater than allowed ${MAX_REDELEGATIONS}`);
  if (remaining_uses != null) throw badRequest('remaining_uses must not be set if redelegation is allowed');
  return depth;
}

/**
 * Returns the properties that a trust inherits if it is created with the token of another trust.
 *
 * @throws a 403 error if the new trust would delegate more than the other trust
 */
function inheritedProperties(call: Call, trust: Wire): Wire | undefined {
  const token = callerToken(call);
  if (token?.accessTokenId) throw forbiddenAction('Redelegation allowed for delegated by trust only');
  const { trusts: allTrusts } = call.cloud.directory.state;
  const sourceTrust = allTrusts.get(token?.trustId ?? '');
  if (!sourceTrust) return undefined;
  const depth = Number(sourceTrust.redelegation_count);
  const isRedelegable = trust.allow_redelegation === true && trust.redelegation_count !== 0;
  if (isRedelegable && trust.redelegation_count != null && trust.redelegation_count !== depth - 1)
    throw forbidden(
      'Modifying "redelegation_count" upon redelegation is forbidden. Omitting this parameter is advised.',
    );
  if (depth <= 0)
    throw forbidden(`Remaining redelegation depth of ${depth} out of allowed range of [0..${MAX_REDELEGATIONS}]`);
  if (trust.remaining_uses != null)
    throw forbidden('Field "remaining_uses" is set while it must not be set in order to redelegate a trust');
  if (
    trust.expires_at &&
    sourceTrust.expires_at &&
    Date.parse(String(trust.expires_at)) > Date.parse(sourceTrust.expires_at)
  )
    throw forbidden('Requested expiration time is more than redelegated trust can provide');
  const delegableRoleIds = sourceTrust.roles.map(({ id }) => id);
  if (!(trust.roles as readonly Wire[]).every(({ id }) => delegableRoleIds.includes(String(id))))
    throw forbidden('Some of requested roles are not in redelegated trust');
  if (trust.impersonation === true && !sourceTrust.impersonation)
    throw forbidden(
      `Impersonation is not allowed because redelegated trust does not specify impersonation. Redelegated trust id: ${sourceTrust.id}`,
    );
  return {
    redelegated_trust_id: sourceTrust.id,
    redelegation_count: isRedelegable ? depth - 1 : 0,
    expires_at: trust.expires_at ?? sourceTrust.expires_at,
  };
}

/** Trusts, through which a user delegates roles to another user. */
export const trusts: ResourceSpec = {
  path: 'OS-TRUST/trusts',
  one: 'trust',
  many: 'trusts',
  filters: ['trustor_user_id', 'trustee_user_id'],
  verbs: ['list', 'show', 'create', 'remove'],
  revealsMissing: ['show', 'remove'],
  checkListing: (call) => rejectApplicationCredentials(call, 'trusts', false),
  views: { list: withoutFields('roles', 'roles_links') },
  fields: () => ({
    id: derived(),
    trustor_user_id: required(fixed(z.string())),
    trustee_user_id: required(fixed(z.string())),
    project_id: fixed(z.string().nullable(), null),
    impersonation: required(fixed(strictFlag)),
    roles: fixed(z.array(RoleRef), () => []),
    expires_at: fixed(wireTimestamp.nullable(), null),
    remaining_uses: fixed(z.number().int().min(1).nullable(), null),
    allow_redelegation: fixed(strictFlag.nullable(), false, { hidden: true }),
    redelegation_count: fixed(z.number().int().min(0).nullable(), null),
    redelegated_trust_id: derived(null),
    deleted_at: derived(null),
  }),
  creating(call, trust) {
    const { caller, cloud } = call;
    const { directory } = cloud;
    rejectApplicationCredentials(call, 'trusts', false);
    if (trust.expires_at && Date.parse(String(trust.expires_at)) <= directory.now())
      throw badRequest('The requested expiration date is in the past.');
    if (!directory.state.users.has(String(trust.trustee_user_id)))
      throw notFound(`Could not find user: ${trust.trustee_user_id}.`);
    const requested = trust.roles as readonly RoleRef[];
    if (trust.project_id && requested.length === 0) throw forbiddenAction('At least one role should be specified');
    const roleIds = directory.roleIdsOf(caller.userId, { kind: 'project', id: String(trust.project_id) });
    const roles = requested.map((ref) => {
      const id = resolveRoleId(call, ref);
      if (!roleIds.includes(id)) throw notFound(`Could not find role: ${id}.`);
      return { id, name: directory.state.roles.get(id)?.name };
    });
    return { roles, redelegation_count: redelegationDepth(trust), ...inheritedProperties(call, { ...trust, roles }) };
  },
  removing: (call) => rejectApplicationCredentials(call, 'trusts', false),
  shows(call, { id, roles }) {
    rejectApplicationCredentials(call, 'trusts', false);
    return {
      roles: (roles as readonly Wire[]).map((one) => roleWithLinks(call, one.id)),
      roles_links: { self: `${call.base}/v3/OS-TRUST/trusts/${id}/roles`, next: null, previous: null },
    };
  },
  routes: trustRoleRoutes,
};

function trustRoleRoutes(): readonly Route[] {
  function rolesOf(call: Call, action: 'list_roles_for_trust' | 'get_role_for_trust'): readonly Wire[] {
    const trust = call.cloud.directory.state.trusts.get(call.param('id'));
    if (!trust) throw notFound(`Could not find trust: ${call.param('id')}.`);
    authorize(call, action, recordTarget(call, 'trusts', trust));
    rejectApplicationCredentials(call, 'trusts', false);
    return trust.roles.map(({ id }) => roleWithLinks(call, id));
  }
  return [
    get('/v3/OS-TRUST/trusts/:id/roles', (call) => listOf('roles', call, rolesOf(call, 'list_roles_for_trust'))),
    get('/v3/OS-TRUST/trusts/:id/roles/:role', (call) => {
      const one = rolesOf(call, 'get_role_for_trust').find(({ id }) => id === call.param('role'));
      if (!one) throw notFound(`Could not find role: ${call.param('role')}.`);
      return { role: one };
    }),
  ];
}
