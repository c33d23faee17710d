import type { QuotaValues } from '@apistrata/compute-engine/api';
import { until } from '@apistrata/microversion';
import { described } from '@apistrata/microversion/schema';
import { field, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

/** A project's quotas and usage. */
interface LimitsAndUsage {
  readonly limits: QuotaValues;
  readonly usage: QuotaValues;
}

const limitSchema = z.int().min(-1);
const limitField = (kind: keyof QuotaValues) =>
  field<LimitsAndUsage, ComputeCall, typeof limitSchema>(limitSchema, ({ limits }) => limits[kind]);
const usageField = (kind: keyof QuotaValues) =>
  field<LimitsAndUsage, ComputeCall, typeof limitSchema>(limitSchema, ({ usage }) => usage[kind]);

/** The limits and usage fields of the response to `showLimits`. -1 means unlimited. */
export const absoluteLimits = view<LimitsAndUsage, ComputeCall>({
  maxImageMeta: until('2.38', described('Maximum number of metadata items per image.', limitField('metadata_items'))),
  maxPersonality: until(
    '2.56',
    described('Maximum number of injected files per server.', limitField('injected_files')),
  ),
  maxPersonalitySize: until(
    '2.56',
    described('Maximum size of an injected file, in bytes.', limitField('injected_file_content_bytes')),
  ),
  maxSecurityGroups: until('2.35', described('Maximum number of security groups.', limitField('security_groups'))),
  maxSecurityGroupRules: until(
    '2.35',
    described('Maximum number of rules per security group.', limitField('security_group_rules')),
  ),
  maxServerMeta: described('Maximum number of metadata items per server.', limitField('metadata_items')),
  maxServerGroups: described('Maximum number of server groups.', limitField('server_groups')),
  maxServerGroupMembers: described('Maximum number of servers per server group.', limitField('server_group_members')),
  maxTotalCores: described('Maximum total number of virtual CPUs in all servers.', limitField('cores')),
  maxTotalFloatingIps: until('2.35', described('Maximum number of floating IP addresses.', limitField('floating_ips'))),
  maxTotalInstances: described('Maximum number of servers.', limitField('instances')),
  maxTotalKeypairs: described('Maximum number of key pairs per user.', limitField('key_pairs')),
  maxTotalRAMSize: described('Maximum total memory of all servers, in MiB.', limitField('ram')),
  totalCoresUsed: described('Number of virtual CPUs in use.', usageField('cores')),
  totalFloatingIpsUsed: until('2.35', described('Number of floating IP addresses in use.', usageField('floating_ips'))),
  totalInstancesUsed: described('Number of servers.', usageField('instances')),
  totalRAMUsed: described('Memory in use, in MiB.', usageField('ram')),
  totalSecurityGroupsUsed: until('2.35', described('Number of security groups in use.', usageField('security_groups'))),
  totalServerGroupsUsed: described('Number of server groups.', usageField('server_groups')),
});
