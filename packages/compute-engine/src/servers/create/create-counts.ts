import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { QuotaKind } from '../../core/settings.js';
import { badRequest } from '../../errors/rejection.js';
import { limitsOf, overQuota } from '../../resources/quotas/server-quota.js';
import type { NewServer } from './create-request.js';

/** Minimum number of servers, and the maximum if quotas allow it. */
export interface Counts {
  readonly min: number;
  readonly max: number;
}

/** Returns the requested numbers of servers; throws 400 if they contradict each other or other fields. */
export function countsOf({ minCount = 1, maxCount = minCount, hostname }: NewServer): Counts {
  if (minCount > maxCount) throw badRequest('min_count must be <= max_count');
  if (maxCount > 1 && hostname !== undefined) {
    throw badRequest('A hostname can only be set for a single server.');
  }
  return { min: minCount, max: maxCount };
}

/** Throws 403 if a server would have more metadata or files than a project may set. */
export async function checkItemQuota(core: Core, { caller }: Context, request: NewServer): Promise<void> {
  const { metadata = {}, files = [] } = request;
  const items = Object.keys(metadata).length;
  if (items === 0 && files.length === 0) return;
  const limits = await limitsOf(core, core.store, caller.projectId, caller.userId);
  const check = (kind: QuotaKind, requested: number, message?: string) => {
    const limit = limits[kind];
    if (limit >= 0 && requested > limit) throw overQuota(core, caller, [{ kind, requested, used: 0, limit }], message);
  };
  check('metadata_items', items);
  check('injected_files', files.length, 'Personality file limit exceeded');
  for (const { path, contents } of files) {
    check('injected_file_path_bytes', Buffer.byteLength(path), 'Personality file path exceeds maximum length');
    const bytes = Buffer.from(contents, 'base64').length;
    check('injected_file_content_bytes', bytes, 'Personality content limit exceeded');
  }
}
