import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { QuotaKind } from '../../core/settings.js';
import { badRequest } from '../../errors/rejection.js';
import { limitsOf, overQuotaError } from '../../resources/quotas/server-quota.js';
import type { NewServer } from './create-request.js';

/** The minimum and maximum number of servers to create. In this range, as many are created as the quotas allow. */
export interface ServerCounts {
  readonly min: number;
  readonly max: number;
}

/**
 * Returns the requested minimum and maximum number of servers. Throws 400 if they contradict each other or other
 * fields.
 */
export function countsOf({ minCount = 1, maxCount = minCount, hostname }: NewServer): ServerCounts {
  if (minCount > maxCount) throw badRequest('min_count must be <= max_count');
  if (maxCount > 1 && hostname !== undefined) {
    throw badRequest('A hostname can only be set for a single server.');
  }
  return { min: minCount, max: maxCount };
}

/**
 * Throws 403 if a request specifies more metadata items or injected files per server than the project's quotas allow.
 */
export async function checkItemQuota(core: Core, { caller }: Context, request: NewServer): Promise<void> {
  const { metadata = {}, files = [] } = request;
  const items = Object.keys(metadata).length;
  if (items === 0 && files.length === 0) return;
  const limits = await limitsOf(core, core.store, caller.projectId, caller.userId);
  const check = (kind: QuotaKind, requested: number, message?: string) => {
    const limit = limits[kind];
    if (limit >= 0 && requested > limit)
      throw overQuotaError(core, caller, [{ kind, requested, used: 0, limit }], message);
  };
  check('metadata_items', items);
  check('injected_files', files.length, 'Personality file limit exceeded');
  for (const { path, contents } of files) {
    check('injected_file_path_bytes', Buffer.byteLength(path), 'Personality file path exceeds maximum length');
    const bytes = Buffer.from(contents, 'base64').length;
    check('injected_file_content_bytes', bytes, 'Personality content limit exceeded');
  }
}
