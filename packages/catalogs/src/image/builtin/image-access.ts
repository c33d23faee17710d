import { compoundKey, type RowQuery, type Session } from '@apistrata/record-store';
import { sql } from 'kysely';
import { hasEntry, hasItem } from '../../builtin/json-conditions.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { ImageQuery } from '../image-catalog.js';
import { type ImageRecord, imageTables } from './image-tables.js';

export function imageNotFound(id: string): CatalogError {
  return new CatalogError('IMAGE_NOT_FOUND', `No image found with ID ${id}`);
}

/**
 * Returns whether the caller may see the image: an image owned by the caller's project, a public or community image, or
 * an image that is shared with the project.
 */
export async function canSee(session: Session, caller: Caller, image: ImageRecord): Promise<boolean> {
  if (canAccessProject(caller, image.projectId) || image.visibility === 'public' || image.visibility === 'community')
    return true;
  if (image.visibility !== 'shared') return false;
  return (await imageTables.members.get(session, compoundKey(image.id, caller.projectId))) !== undefined;
}

/** Adds conditions to a query, so that it selects only images that match the filters and that the caller may list. */
export function narrowImages(session: Session, caller: Caller, query: ImageQuery, rows: RowQuery): RowQuery {
  let narrowed = rows;
  const exactFilters = {
    name: query.name,
    status: query.status,
    visibility: query.visibility,
    project_id: query.projectId,
  };
  for (const [column, value] of Object.entries(exactFilters)) {
    // The concatenation prevents the use of this column's index, which covers all projects. For callers that see few
    // images, the indexes on project and visibility are faster.
    const comparedColumn = isAdmin(caller) ? sql.ref(column) : sql`(${sql.ref(column)} || '')`;
    if (value !== undefined) narrowed = narrowed.where(comparedColumn, '=', value);
  }
  if (query.ids) narrowed = narrowed.where('id', 'in', query.ids.length > 0 ? query.ids : ['']);
  if (query.updatedSince !== undefined) narrowed = narrowed.where('updated_at', '>=', query.updatedSince);
  narrowed = narrowed.where('hidden', '=', Number(query.hidden ?? false));
  for (const [key, value] of Object.entries(query.properties ?? {})) {
    narrowed =
      key === 'instance_uuid'
        ? narrowed.where('server_id', '=', value)
        : narrowed.where(hasEntry(session, 'properties', key, value));
  }
  for (const tag of query.tags ?? []) narrowed = narrowed.where(hasItem(session, 'tags', tag));
  if (isAdmin(caller)) return narrowed;
  const { memberStatus = 'accepted' } = query;
  const memberImageIds = session.db
    .selectFrom('image_members')
    .select('image_id')
    .where('project_id', '=', caller.projectId);
  const visibleMemberImageIds =
    memberStatus === 'all' ? memberImageIds : memberImageIds.where('status', '=', memberStatus);
  return narrowed.where(({ or, and, eb }) =>
    or([
      eb('visibility', '=', 'public'),
      eb('project_id', '=', caller.projectId),
      // Community images are listed only if the query requests this visibility.
      ...(query.visibility === 'community' ? [eb('visibility', '=', 'community')] : []),
      and([eb('visibility', '=', 'shared'), eb('id', 'in', visibleMemberImageIds)]),
    ]),
  );
}
