import type { QuotaValues } from '@apistrata/compute-engine/api';
import { until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

/** What a project may have and has. */
interface Measured {
  readonly limits: QuotaValues;
  readonly usage: QuotaValues;
}

const number = z.int().min(-1);
const most = (kind: keyof QuotaValues) =>
  field<Measured, ComputeCall, typeof number>(number, ({ limits }) => limits[kind]);
const used = (kind: keyof QuotaValues) =>
  field<Measured, ComputeCall, typeof number>(number, ({ usage }) => usage[kind]);

/** Limits under the names they have here; -1 is unlimited. */
export const absoluteLimits = view<Measured, ComputeCall>({
  maxImageMeta: until('2.38', most('metadata_items')),
  maxPersonality: until('2.56', most('injected_files')),
  maxPersonalitySize: until('2.56', most('injected_file_content_bytes')),
  maxSecurityGroups: until('2.35', most('security_groups')),
  maxSecurityGroupRules: until('2.35', most('security_group_rules')),
  maxServerMeta: most('metadata_items'),
  maxServerGroups: most('server_groups'),
  maxServerGroupMembers: most('server_group_members'),
  maxTotalCores: most('cores'),
  maxTotalFloatingIps: until('2.35', most('floating_ips')),
  maxTotalInstances: most('instances'),
  maxTotalKeypairs: most('key_pairs'),
  maxTotalRAMSize: most('ram'),
  totalCoresUsed: used('cores'),
  totalFloatingIpsUsed: until('2.35', used('floating_ips')),
  totalInstancesUsed: used('instances'),
  totalRAMUsed: used('ram'),
  totalSecurityGroupsUsed: until('2.35', used('security_groups')),
  totalServerGroupsUsed: used('server_groups'),
});
