import { Rejection } from '@apistrata/compute-engine';
import type { NewSecurityGroupRule, SecurityGroupRule } from '@apistrata/compute-engine/catalogs';
import { derive, described, type Infer, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { nullableText } from '../../schemas/reply-types.js';

/** OpenAPI descriptions of rule fields that requests and responses share. */
export const ruleTexts = {
  parentGroupId: 'UUID of the security group that contains the rule.',
  ipProtocol: 'Protocol: `tcp`, `udp` or `icmp`. Null means all protocols.',
  fromPort: 'First port of the range, or ICMP type. Null means all ports or types.',
  toPort: 'Last port of the range, or ICMP code. Null means all ports or codes.',
} as const;

/** A security group rule as this API represents it. */
export const securityGroupRule = object({
  id: described('UUID of the rule.', z.string()),
  parent_group_id: described(ruleTexts.parentGroupId, z.string()),
  ip_protocol: described(ruleTexts.ipProtocol, nullableText),
  from_port: described(ruleTexts.fromPort, z.int().min(-1).nullable()),
  to_port: described(ruleTexts.toPort, z.int().min(-1).nullable()),
  group: described(
    'Source security group. An empty object if the rule has an address range instead.',
    derive(
      object({
        name: described('Name of the source security group.', z.string()),
        tenant_id: described('ID of the project that owns the source security group.', z.string()),
      }),
      (item) => z.union([item, z.strictObject({})]),
    ),
  ),
  ip_range: described(
    'Source address range. An empty object if the rule has a source security group instead.',
    derive(object({ cidr: described('Addresses in CIDR notation, such as `192.0.2.0/24`.', z.string()) }), (item) =>
      z.union([item, z.strictObject({})]),
    ),
  ),
});

/** The security group from whose members a rule allows traffic. */
export interface RemoteGroup {
  readonly name: string;
  readonly projectId: string;
}

const ANY_PORT: readonly [number, number] = [1, 65535];
const ALL_IPV4 = '0.0.0.0/0';
const ALL_IPV6 = '::/0';

/** Returns the first and last port of a rule. Without a port range, a rule applies to all ports of its protocol. */
function portsOf({ protocol, portMin, portMax }: SecurityGroupRule): readonly [number | null, number | null] {
  if (protocol === null || portMin !== null || portMax !== null) return [portMin, portMax];
  return protocol === 'tcp' || protocol === 'udp' ? ANY_PORT : [-1, -1];
}

/**
 * Converts a rule from the networking service to this API's representation.
 *
 * @param remote the security group from whose members the rule allows traffic, if any
 */
export function toApiRule(rule: SecurityGroupRule, remote: RemoteGroup | undefined): Infer<typeof securityGroupRule> {
  const [from_port, to_port] = portsOf(rule);
  const allAddresses = rule.ethertype === 'IPv6' ? ALL_IPV6 : ALL_IPV4;
  return {
    id: rule.id,
    parent_group_id: rule.securityGroupId,
    ip_protocol: rule.protocol,
    from_port,
    to_port,
    group: remote ? { name: remote.name, tenant_id: remote.projectId } : {},
    ip_range: rule.remoteGroupId === null ? { cidr: rule.remoteCidr ?? allAddresses } : {},
  };
}

/**
 * Converts ingress rules to this API's representation, which does not have egress rules. A rule whose remote group was
 * deleted is omitted, because without the group it would appear to allow all addresses, or none.
 */
export function toApiRules(
  rules: readonly SecurityGroupRule[],
  groups: ReadonlyMap<string, RemoteGroup>,
): Infer<typeof securityGroupRule>[] {
  return rules
    .filter(({ direction, remoteGroupId }) => {
      return direction === 'ingress' && (remoteGroupId === null || groups.has(remoteGroupId));
    })
    .map((rule) => toApiRule(rule, groups.get(rule.remoteGroupId ?? '')));
}

/** A security group rule in a request. */
interface RequestedRule {
  readonly parent_group_id: string;
  readonly group_id?: string | null;
  readonly ip_protocol?: unknown;
  readonly from_port?: unknown;
  readonly to_port?: unknown;
  readonly cidr?: unknown;
}

const isMissing = (value: unknown) => value === undefined || value === null || value === '';

/** The valid port range for each protocol. For ICMP, the numbers are types and codes, and -1 means any. */
const PROTOCOLS = [
  { protocol: 'tcp', range: ANY_PORT },
  { protocol: 'udp', range: ANY_PORT },
  { protocol: 'icmp', range: [-1, 255] },
] as const;

type Protocol = (typeof PROTOCOLS)[number];

function protocolOf(value: unknown): Protocol {
  const name = typeof value === 'string' ? value.toLowerCase() : '';
  const knownProtocol = PROTOCOLS.find(({ protocol }) => protocol === name);
  if (knownProtocol) return knownProtocol;
  throw new Rejection(
    'BAD_REQUEST',
    `Invalid IP protocol: it must be one of ${PROTOCOLS.map(({ protocol }) => protocol).join(', ')}.`,
  );
}

function portOf(value: unknown, { protocol, range: [min, max] }: Protocol): number {
  const port = typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value)) ? Number(value) : NaN;
  if (Number.isInteger(port) && port >= min && port <= max) return port;
  throw new Rejection('BAD_REQUEST', `Invalid port: for ${protocol}, it must be from ${min} to ${max}.`);
}

/**
 * Converts a rule in a request to the format of the networking service.
 *
 * @throws Rejection (400) if the rule is inconsistent
 */
export function toNetworkingRule(request: RequestedRule): NewSecurityGroupRule {
  const baseRule = { securityGroupId: request.parent_group_id, direction: 'ingress' as const };
  const remoteGroupId = request.group_id ?? null;
  const givenParameters = [request.ip_protocol, request.from_port, request.to_port].filter(
    (value) => !isMissing(value),
  );
  if (givenParameters.length === 0 && remoteGroupId) return { ...baseRule, remoteGroupId };
  if (givenParameters.length < 3) throw new Rejection('BAD_REQUEST', 'Not enough parameters to build a valid rule.');
  const protocolDefinition = protocolOf(request.ip_protocol);
  const { protocol } = protocolDefinition;
  const [from, to] = [portOf(request.from_port, protocolDefinition), portOf(request.to_port, protocolDefinition)];
  if (from > to && protocol !== 'icmp')
    throw new Rejection('BAD_REQUEST', `Invalid port range ${from}:${to}: it ends before it starts.`);
  const ports = { protocol, portMin: from === -1 ? null : from, portMax: to === -1 ? null : to };
  if (remoteGroupId) return { ...baseRule, ...ports, remoteGroupId };
  if (isMissing(request.cidr)) return { ...baseRule, ...ports, remoteCidr: ALL_IPV4 };
  if (typeof request.cidr !== 'string') throw new Rejection('BAD_REQUEST', 'Invalid CIDR given as IP prefix.');
  return { ...baseRule, ...ports, remoteCidr: request.cidr };
}
