import type { Session } from '@apistrata/record-store';
import { usageByHost } from './claims.js';
import type { HostUsage } from './host-usage.js';
import { resourcesByHost } from './resource-claims.js';

/** Allocated capacity of a host, with all resource classes. */
export interface HostCount extends HostUsage {
  /** Amounts of resource classes other than processors, memory and disk; those without allocations are omitted. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Counts the allocations on each host. */
export async function readCountsByHost(session: Session): Promise<ReadonlyMap<string, HostCount>> {
  const otherResources = await resourcesByHost(session);
  const usages = await usageByHost(session);
  return new Map([...usages].map(([host, usage]) => [host, { ...usage, resources: otherResources.get(host) ?? {} }]));
}
