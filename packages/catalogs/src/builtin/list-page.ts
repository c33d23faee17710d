import type { DocumentTable, RowQuery, Session, Stored } from '@apistrata/record-store';
import { CatalogError } from '../errors/catalog-error.js';

export interface Page {
  readonly limit?: number;
  readonly offset?: number;
  /** The id of the last item on the previous page. */
  readonly marker?: string;
}

/** Returns one page of table rows, in insertion order or reverse insertion order. */
export async function listPage<R extends Stored>(
  session: Session,
  table: DocumentTable<R>,
  order: 'oldest first' | 'newest first',
  page: Page,
  narrow: (query: RowQuery) => RowQuery,
): Promise<R[]> {
  const markerRecord = page.marker === undefined ? undefined : await table.get(session, page.marker);
  if (page.marker !== undefined && !markerRecord)
    throw new CatalogError('MARKER_NOT_FOUND', `marker [${page.marker}] not found`);
  return table.find(session, (query) => {
    const [comparison, direction] = order === 'oldest first' ? (['>', 'asc'] as const) : (['<', 'desc'] as const);
    let narrowed = narrow(query).orderBy('seq', direction);
    if (markerRecord) narrowed = narrowed.where('seq', comparison, markerRecord.seq);
    if (page.limit !== undefined || page.offset) narrowed = narrowed.limit(page.limit ?? 2 ** 31 - 1);
    return page.offset ? narrowed.offset(page.offset) : narrowed;
  });
}
