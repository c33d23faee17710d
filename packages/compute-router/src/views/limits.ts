import type { QuotaValues } from '@apistrata/compute-engine/api';
import { until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

/** The limits of a project and its usage. */
interface Measured {
  readonly limits: QuotaValues;
  readonly usage: QuotaValues;
}

const number = z.int().min(-1);
const max = (kind: keyof QuotaValues) =>
  field<Measured, ComputeCall, typeof number>(number, ({ limits }) => limits[kind]);
const used = (kind: keyof QuotaValues) =>
  field<Measured, ComputeCall, typeof number>(number, ({ usage }) => usage[kind]);

/** Limits under the names that this operation uses; -1 is unlimited. */
export const absoluteLimits = view<Measured, ComputeCall>({
  maxImageMeta: until('2.38', max('metadata_items')),
  maxPersonality: until('2.56', max('injected_files')),
  maxPersonalitySize: until('2.56', max('injected_file_content_bytes')),
  maxSecurityGroups: until('2.35', max('security_groups')),
  maxSecurityGroupRules: until('2.35', max('security_group_rules')),
  maxServerMeta: max('metadata_items'),
  maxServerGroups: max('server_groups'),
  maxServerGroupMembers: max('server_group_members'),
  maxTotalCores: max('cores'),
  maxTotalFloatingIps: until('2.35', max('floating_ips')),
  maxTotalInstances: max('instances'),
  maxTotalKeypairs: max('key_pairs'),
  maxTotalRAMSize: max('ram'),
  totalCoresUsed: used('cores'),
  totalFloatingIpsUsed: until('2.35', used('floating_ips')),
  totalInstancesUsed: used('instances'),
  totalRAMUsed: used('ram'),
  totalSecurityGroupsUsed: until('2.35', used('security_groups')),
  totalServerGroupsUsed: used('server_groups'),
});
