import type { Context } from '../context.js';
import type { Core } from '../core.js';
import { badRequest, notFound } from '../errors.js';
import type { Flavor } from '../model/index.js';
import { tables } from '../store/tables.js';

/** Flavor columns that lists can be sorted by, and where a flavor keeps them. */
const sortKeys: Readonly<Record<string, (flavor: Flavor) => string | number>> = {
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
};

export interface FlavorQuery {
  readonly limit: number;
  readonly marker?: string;
  /** Administrators: public ones, others, or all (null). Everybody else sees what they may use. */
  readonly isPublic?: boolean | null;
  readonly minMemoryMb?: number;
  readonly minDiskGb?: number;
  readonly sortKey?: string;
  readonly sortDirection?: 'asc' | 'desc';
}

function usableBy({ caller }: Context, flavor: Flavor): boolean {
  return flavor.isPublic || flavor.projects.includes(caller.projectId);
}

/** Flavors: few in any cloud, so they are filtered and sorted in memory. */
export class Flavors {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Flavors the caller may see, by id; 404 otherwise. */
  async get(context: Context, id: string): Promise<Flavor> {
    const flavor = await tables.flavors.get(this.#core.store, id);
    if (!flavor || !(context.isAdmin || usableBy(context, flavor))) throw notFound(`Flavor ${id} could not be found.`);
    return flavor;
  }

  async list(context: Context, query: FlavorQuery): Promise<readonly Flavor[]> {
    const all = await tables.flavors.find(this.#core.store);
    const visible = all.filter((flavor) => this.#visible(context, flavor, query));
    const sort = sortKeys[query.sortKey ?? 'flavorid']!;
    const sign = query.sortDirection === 'desc' ? -1 : 1;
    const sorted = visible.sort((a, b) => {
      const [x, y] = [sort(a), sort(b)];
      return (x < y ? -1 : x > y ? 1 : a.seq - b.seq) * sign;
    });
    if (query.marker === undefined) return sorted.slice(0, query.limit);
    const position = sorted.findIndex(({ id }) => id === query.marker);
    if (position < 0) throw badRequest(`marker [${query.marker}] not found`);
    return sorted.slice(position + 1, position + 1 + query.limit);
  }

  #visible(context: Context, flavor: Flavor, query: FlavorQuery): boolean {
    if (flavor.disabled && !context.isAdmin) return false;
    if (flavor.memoryMb < (query.minMemoryMb ?? 0) || flavor.diskGb < (query.minDiskGb ?? 0)) return false;
    if (!context.isAdmin || query.isPublic === undefined) return usableBy(context, flavor);
    return query.isPublic === null || query.isPublic === flavor.isPublic;
  }
}
