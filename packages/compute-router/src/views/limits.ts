import type { QuotaValues } from '@apistrata/compute-engine/api';
import { until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

/** A project's quotas and usage. */
interface Measured {
  readonly limits: QuotaValues;
  readonly usage: QuotaValues;
}

const number = z.int().min(-1);
const max = (kind: keyof QuotaValues) =>
  field<Measured, ComputeCall, typeof number>(number, ({ limits }) => limits[kind]);
const used = (kind: keyof QuotaValues) =>
  field<Measured, ComputeCall, typeof number>(number, ({ usage }) => usage[kind]);

/** The limits and usage fields of the response to `showLimits`. -1 means unlimited. */
export const absoluteLimits = view<Measured, ComputeCall>({
  maxImageMeta: until('2.38', described('Maximum number of metadata items per image.', max('metadata_items'))),
  maxPersonality: until('2.56', described('Maximum number of injected files per server.', max('injected_files'))),
  maxPersonalitySize: until(
    '2.56',
    described('Maximum size of an injected file, in bytes.', max('injected_file_content_bytes')),
  ),
  maxSecurityGroups: until('2.35', described('Maximum number of security groups.', max('security_groups'))),
  maxSecurityGroupRules: until(
    '2.35',
    described('Maximum number of rules per security group.', max('security_group_rules')),
  ),
  maxServerMeta: described('Maximum number of metadata items per server.', max('metadata_items')),
  maxServerGroups: described('Maximum number of server groups.', max('server_groups')),
  maxServerGroupMembers: described('Maximum number of servers per server group.', max('server_group_members')),
  maxTotalCores: described('Maximum total number of virtual CPUs in all servers.', max('cores')),
  maxTotalFloatingIps: until('2.35', described('Maximum number of floating IP addresses.', max('floating_ips'))),
  maxTotalInstances: described('Maximum number of servers.', max('instances')),
  maxTotalKeypairs: described('Maximum number of key pairs per user.', max('key_pairs')),
  maxTotalRAMSize: described('Maximum total memory of all servers, in MiB.', max('ram')),
  totalCoresUsed: described('Number of virtual CPUs in use.', used('cores')),
  totalFloatingIpsUsed: until('2.35', described('Number of floating IP addresses in use.', used('floating_ips'))),
  totalInstancesUsed: described('Number of servers.', used('instances')),
  totalRAMUsed: described('Memory in use, in MiB.', used('ram')),
  totalSecurityGroupsUsed: until('2.35', described('Number of security groups in use.', used('security_groups'))),
  totalServerGroupsUsed: described('Number of server groups.', used('server_groups')),
});
