import { randomUUID } from 'node:crypto';
import { lockName, type Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { conflict, notFound } from '../../errors/rejection.js';
import type { Flavor } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { type FlavorQuery, isUsableBy, pageOfFlavors } from './flavors-list.js';

/** A request to create a flavor. Memory and swap are in MiB, disks in GiB. */
export interface NewFlavor {
  /** Id of the flavor. Default: a random UUID. */
  readonly id?: string;
  readonly name: string;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
  readonly ephemeralGb?: number;
  readonly swapMb?: number;
  readonly rxtxFactor?: number;
  readonly isPublic?: boolean;
  readonly description?: string | null;
}

const unknownFlavorError = (id: string) => notFound(`Flavor ${id} could not be found.`);

/** Manages flavors. Servers store copies of their flavors, so changes do not affect existing servers. */
export class Flavors {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Returns a flavor. Throws 404 if it does not exist or the caller may not see it. */
  async get(context: Context, id: string): Promise<Flavor> {
    return this.#requireVisible(context, id, await tables.flavors.get(this.#core.store, id));
  }

  async list(context: Context, query: FlavorQuery): Promise<readonly Flavor[]> {
    return pageOfFlavors(await tables.flavors.find(this.#core.store), context, query);
  }

  /** Creates a flavor. Throws 409 if the name or id is in use. Initially, no project has access to a private flavor. */
  async create(request: NewFlavor): Promise<Flavor> {
    const { store, clock } = this.#core;
    return store.transaction(async (tx) => {
      await lockName(tx, 'flavors');
      const id = request.id ?? randomUUID();
      if (await tables.flavors.get(tx, id)) throw conflict(`Flavor with ID ${id} already exists.`);
      if ((await tables.flavors.count(tx, (q) => q.where('name', '=', request.name))) > 0)
        throw conflict(`Flavor with name ${request.name} already exists.`);
      return tables.flavors.insert(tx, {
        id,
        name: request.name,
        description: request.description ?? null,
        vcpus: request.vcpus,
        memoryMb: request.memoryMb,
        diskGb: request.diskGb,
        ephemeralGb: request.ephemeralGb ?? 0,
        swapMb: request.swapMb ?? 0,
        rxtxFactor: request.rxtxFactor ?? 1,
        isPublic: request.isPublic ?? true,
        disabled: false,
        extraSpecs: {},
        projects: [],
        createdAt: clock.now(),
        updatedAt: null,
      });
    });
  }

  describe(context: Context, id: string, description: string | null): Promise<Flavor> {
    return this.#change(context, id, () => ({ description }));
  }

  async delete(context: Context, id: string): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      this.#requireVisible(context, id, await tables.flavors.lock(tx, id));
      await tables.flavors.delete(tx, id);
    });
  }

  /** Returns the ids of the projects with access to a private flavor. Throws 404 for a public flavor. */
  async access(context: Context, id: string): Promise<readonly string[]> {
    const { isPublic, projects } = await this.get(context, id);
    if (isPublic) throw notFound('Access list not available for public flavors.');
    return projects;
  }

  /**
   * Grants a project access to a flavor. Throws 409 if the project already has access, or if the flavor is public and
   * `allowPublic` is false.
   */
  grant(context: Context, id: string, projectId: string, options: { readonly allowPublic: boolean }): Promise<Flavor> {
    return this.#change(context, id, ({ isPublic, projects }) => {
      if (isPublic && !options.allowPublic) throw conflict('Can not add access to a public flavor.');
      if (projects.includes(projectId))
        throw conflict(`Flavor access already exists for flavor ${id} and project ${projectId} combination.`);
      return { projects: [...projects, projectId] };
    });
  }

  /** Revokes a project's access to a flavor. Throws 404 if the project has no access. */
  revoke(context: Context, id: string, projectId: string): Promise<Flavor> {
    return this.#change(context, id, ({ projects }) => {
      if (!projects.includes(projectId))
        throw notFound(`Flavor access not found for ${id} / ${projectId} combination.`);
      return { projects: projects.filter((project) => project !== projectId) };
    });
  }

  /** Adds or replaces extra specs of a flavor. */
  setExtraSpecs(context: Context, id: string, specs: Readonly<Record<string, string>>): Promise<Flavor> {
    return this.#change(context, id, ({ extraSpecs }) => ({ extraSpecs: { ...extraSpecs, ...specs } }));
  }

  /** Returns the value of an extra spec. Throws 404 if the flavor does not have the extra spec. */
  async extraSpec(context: Context, id: string, key: string): Promise<string> {
    const { extraSpecs } = await this.get(context, id);
    const value = Object.hasOwn(extraSpecs, key) ? extraSpecs[key] : undefined;
    if (value === undefined) throw unknownSpecError(id, key);
    return value;
  }

  async deleteExtraSpec(context: Context, id: string, key: string): Promise<void> {
    await this.#change(context, id, ({ extraSpecs }) => {
      if (!Object.hasOwn(extraSpecs, key)) throw unknownSpecError(id, key);
      return { extraSpecs: Object.fromEntries(Object.entries(extraSpecs).filter(([name]) => name !== key)) };
    });
  }

  async #change(context: Context, id: string, createPatch: (flavor: Flavor) => Partial<Flavor>): Promise<Flavor> {
    const { store, clock } = this.#core;
    return store.transaction(async (tx: Tx) => {
      const flavor = this.#requireVisible(context, id, await tables.flavors.lock(tx, id));
      return tables.flavors.update(tx, { ...flavor, ...createPatch(flavor), updatedAt: clock.now() });
    });
  }

  #requireVisible(context: Context, id: string, flavor: Flavor | undefined): Flavor {
    if (!flavor || !(context.isAdmin || isUsableBy(context, flavor))) throw unknownFlavorError(id);
    return flavor;
  }
}

function unknownSpecError(id: string, key: string) {
  return notFound(`Flavor ${id} has no extra specs with key ${key}.`);
}
