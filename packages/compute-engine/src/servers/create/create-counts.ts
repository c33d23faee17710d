import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { QuotaKind } from '../../core/settings.js';
import { badRequest } from '../../errors/refusal.js';
import { limitsOf, overQuota } from '../../resources/quotas/server-quota.js';
import type { NewServer } from './create-request.js';

/** How many servers: at least, and if quotas allow at the most. */
export interface Counts {
  readonly least: number;
  readonly most: number;
}

/** Throws 400 when the numbers contradict each other or what else was asked for. */
export function countsOf({ minCount = 1, maxCount = minCount, hostname }: NewServer): Counts {
  if (minCount > maxCount) throw badRequest('min_count must be <= max_count');
  if (maxCount > 1 && hostname !== undefined) {
    throw badRequest('A hostname cannot be given to several servers: it has to be one server.');
  }
  return { least: minCount, most: maxCount };
}

/** Throws 403 when a server would get more metadata or files than a project may give one. */
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
