import type { Call } from '../service/call.js';
import { runSerially } from '../service/serialized.js';
import { ServiceError } from '../service/service-error.js';
import { addPending, type PendingRecord } from './pending-records.js';
import { limitsOf, usageOf } from './quota-routes.js';

/** The amounts that a request adds to the usage, by key in the quota set. */
export type AddedAmounts = Readonly<Record<string, number>>;

const overLimitError = (message: string) => new ServiceError(413, message, 'OverLimit');

function quotaError(kind: string, added: number, limit: number, used: number): ServiceError {
  const sizes = `Requested ${added}G, quota is ${limit}G and ${used}G has been consumed.`;
  if (kind === 'backup_gigabytes')
    return overLimitError(`Requested backup exceeds allowed Backup gigabytes quota. ${sizes}`);
  if (kind.startsWith('gigabytes'))
    return overLimitError(`Requested volume or snapshot exceeds allowed ${kind} quota. ${sizes}`);
  if (kind.startsWith('volumes'))
    return overLimitError(`Maximum number of volumes allowed (${limit}) exceeded for quota '${kind}'.`);
  return overLimitError(`Maximum number of ${kind.split('_')[0]} allowed (${limit}) exceeded`);
}

/**
 * Throws a 413 error if a request would exceed the quotas of the caller's project, including those of the volume type.
 *
 * @param pending the record that the request creates or extends; it counts toward the quotas from now on
 */
export function checkQuota(
  call: Call,
  added: AddedAmounts,
  type?: string | null,
  pending?: PendingRecord,
): Promise<void> {
  const { projectId } = call.caller;
  return runSerially(call.cloud, [`volume-quota/${projectId}`], async () => {
    const [limits, used] = await Promise.all([limitsOf(call, projectId), usageOf(call, projectId)]);
    for (const [kind, amount] of Object.entries(added))
      for (const quotaKey of type ? [kind, `${kind}_${type}`] : [kind]) {
        const limit = limits[quotaKey] ?? -1;
        const usedAmount = used[quotaKey] ?? 0;
        if (limit >= 0 && usedAmount + amount > limit) throw quotaError(quotaKey, amount, limit, usedAmount);
      }
    const { per_volume_gigabytes: max = -1 } = limits;
    if (max >= 0 && (added.gigabytes ?? 0) > max)
      throw overLimitError(`Requested volume size ${added.gigabytes}G is larger than maximum allowed limit ${max}G.`);
    if (pending) addPending(call, pending);
  });
}
