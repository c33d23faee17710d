import type { Context } from '../../core/context.js';
import { badRequest } from '../../errors/rejection.js';
import type { Flavor } from '../../model/index.js';
import { compilePattern } from '../../servers/list/list-pattern.js';

/** The keys by which flavors can be sorted, with the field that each key compares. */
const sortKeys = {
  created_at: (f) => f.createdAt,
  description: (f) => f.description ?? '',
  disabled: (f) => Number(f.disabled),
  ephemeral_gb: (f) => f.ephemeralGb,
  flavorid: (f) => f.id,
  id: (f) => f.seq,
  is_public: (f) => Number(f.isPublic),
  memory_mb: (f) => f.memoryMb,
  name: (f) => f.name,
  root_gb: (f) => f.diskGb,
  rxtx_factor: (f) => f.rxtxFactor,
  swap: (f) => f.swapMb,
  updated_at: (f) => f.updatedAt ?? 0,
  vcpu_weight: () => 0,
  vcpus: (f) => f.vcpus,
} as const satisfies Record<string, (flavor: Flavor) => string | number>;

/** Filters, sort order and page of a flavor list. */
export interface FlavorQuery {
  readonly limit: number;
  readonly marker?: string;
  /**
   * For administrators, true or undefined selects public flavors and private flavors of their project, false selects
   * private flavors, and null selects all flavors. Other callers see the flavors that they may use.
   */
  readonly isPublic?: boolean | null;
  readonly minMemoryMb?: number;
  readonly minDiskGb?: number;
  /** Regular expression that matches anywhere in the name. An empty expression matches every name. */
  readonly name?: string;
  readonly sortKey?: keyof typeof sortKeys;
  readonly sortDirection?: 'asc' | 'desc';
}

/** Returns whether the caller's project may use a flavor. */
export function isUsableBy({ caller }: Context, flavor: Flavor): boolean {
  return flavor.isPublic || flavor.projects.includes(caller.projectId);
}

/**
 * Returns a predicate that matches flavor names in linear time for any pattern. Throws 400 if the pattern is invalid.
 */
function createNamePredicate(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined || pattern === '') return () => true;
  const matches = compilePattern(pattern);
  if (!matches) throw badRequest(`Invalid name filter: '${pattern}' is not a valid regular expression`);
  return matches;
}

function isListed(context: Context, flavor: Flavor, { isPublic = true }: FlavorQuery): boolean {
  if (!context.isAdmin) return isUsableBy(context, flavor) && !flavor.disabled;
  if (isPublic === null) return true;
  return isPublic ? isUsableBy(context, flavor) : !flavor.isPublic;
}

/** Returns a page of flavors. A cloud has few flavors, so they are filtered and sorted in memory. */
export function pageOfFlavors(all: readonly Flavor[], context: Context, query: FlavorQuery): readonly Flavor[] {
  const { limit, marker, minMemoryMb = 0, minDiskGb = 0 } = query;
  const matchesName = createNamePredicate(query.name);
  const matchingFlavors = all.filter(
    (flavor) =>
      isListed(context, flavor, query) &&
      flavor.memoryMb >= minMemoryMb &&
      flavor.diskGb >= minDiskGb &&
      matchesName(flavor.name),
  );
  const sortValue: (flavor: Flavor) => string | number = sortKeys[query.sortKey ?? 'flavorid'];
  const sign = query.sortDirection === 'desc' ? -1 : 1;
  const sorted = matchingFlavors.sort((a, b) => {
    const [x, y] = [sortValue(a), sortValue(b)];
    return (x < y ? -1 : x > y ? 1 : a.seq - b.seq) * sign;
  });
  if (marker === undefined) return sorted.slice(0, limit);
  const position = sorted.findIndex(({ id }) => id === marker);
  if (position < 0) throw badRequest(`marker [${marker}] not found`);
  return sorted.slice(position + 1, position + 1 + limit);
}
