import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { Wire } from '../service/wire.js';
import { networkError } from './network-errors.js';

/** The conntrack helpers that routers may use, with the protocols that each helper supports. */
const PROTOCOLS_BY_HELPER: Readonly<Record<string, readonly string[]>> = {
  amanda: ['tcp'],
  ftp: ['tcp'],
  h323: ['udp', 'tcp'],
  irc: ['tcp'],
  'netbios-ns': ['udp'],
  pptp: ['tcp'],
  sane: ['tcp'],
  sip: ['udp', 'tcp'],
  snmp: ['udp'],
  tftp: ['udp'],
};

/** Rejects a conntrack helper that is not allowed, does not support its protocol or already exists on the router. */
export async function checkConntrackHelper(call: Call, requested: Wire): Promise<undefined> {
  const { id, helper, protocol, port } = requested;
  const protocols = Object.hasOwn(PROTOCOLS_BY_HELPER, String(helper))
    ? PROTOCOLS_BY_HELPER[String(helper)]
    : undefined;
  if (!protocols) throw networkError('ConntrackHelperNotAllowed', `Conntrack Helper ${helper} is not allowed.`);
  if (!protocols.includes(String(protocol)))
    throw networkError(
      'InvalidProtocolForHelper',
      `Conntrack Helper ${helper} does not support: ${protocol}. Supported protocols are: ${protocols.join(', ')}`,
    );
  const { id: routerId } = await call.cloud.catalogs.networks.getRouter(call.caller, call.param('router_id'));
  const identifyingFields: Wire = { router_id: routerId, helper, protocol, port };
  for (const other of call.cloud.documents.table<Doc>('network/conntrack_helpers').values())
    if (other.id !== id && Object.entries(identifyingFields).every(([key, value]) => other[key] === value))
      throw networkError(
        'BadRequest',
        'Bad conntrack_helper request: A duplicate conntrack helper entry with same attributes already exists.',
      );
}
