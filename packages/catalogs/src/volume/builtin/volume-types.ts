import { randomUUID } from 'node:crypto';
import { retryOnUniqueViolation, type Session, type Tx } from '@apistrata/record-store';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { VolumeContext } from './volume-context.js';
import { type VolumeTypeRecord, volumeTables } from './volume-tables.js';

const { types, volumes } = volumeTables;

export type VolumeTypeFields = Partial<Pick<VolumeTypeRecord, 'name' | 'description' | 'isPublic' | 'extraSpecs'>>;

/** The name of the volume type that is the default if such a type exists. */
const DEFAULT_TYPE_NAME = '__DEFAULT__';

export function typeNotFound(nameOrId: string): CatalogError {
  return new CatalogError('VOLUME_TYPE_NOT_FOUND', `Volume type ${nameOrId} could not be found.`);
}

export async function findType(session: Session, nameOrId: string): Promise<VolumeTypeRecord | undefined> {
  return (await types.get(session, nameOrId)) ?? (await types.find(session, (q) => q.where('name', '=', nameOrId)))[0];
}

/**
 * Prevents changes to the volume type with the given name until the transaction ends. A transaction locks volume types
 * before volumes.
 *
 * @throws `VOLUME_TYPE_NOT_FOUND`
 */
export async function lockTypeByName(tx: Tx, name: string): Promise<void> {
  const [found] = await types.find(tx, (q) => q.where('name', '=', name));
  const type = found && (await types.lock(tx, found.id));
  // The type may have been renamed or deleted before it was locked.
  if (type?.name !== name) throw typeNotFound(name);
}

/** Returns whether volumes with this type can be attached to several servers. */
export function allowsMultiattach(type: Pick<VolumeTypeRecord, 'extraSpecs'>): boolean {
  return type.extraSpecs.multiattach === '<is> True';
}

/** Creates the volume type operations of the embedded volume catalog. */
export function createVolumeTypeOperations({ store, clock, acceptsUnknownIds }: VolumeContext) {
  function insertType(
    fields: VolumeTypeFields & { readonly name: string; readonly id?: string },
  ): Promise<VolumeTypeRecord> {
    rejectNul(fields);
    return retryOnUniqueViolation(store, async (tx) => {
      if (await findType(tx, fields.name))
        throw new CatalogError('VOLUME_TYPE_EXISTS', `Volume Type ${fields.name} already exists.`);
      const { id = randomUUID(), name, description = null, isPublic = true, extraSpecs = {} } = fields;
      return types.insert(tx, { id, name, description, isPublic, extraSpecs, createdAt: clock.now() });
    });
  }

  /** Updates the type name in the records of the type's volumes. */
  async function renameInVolumes(tx: Tx, previousName: string, name: string): Promise<void> {
    for (const { id } of await volumes.find(tx, (q) => q.where('type_name', '=', previousName).orderBy('seq'))) {
      const volume = await volumes.lock(tx, id);
      if (volume?.volumeType === previousName) await volumes.update(tx, { ...volume, volumeType: name });
    }
  }

  async function getType(_caller: Caller, nameOrId: string): Promise<VolumeTypeRecord> {
    const type = await findType(store, nameOrId);
    if (type) return type;
    if (!acceptsUnknownIds) throw typeNotFound(nameOrId);
    return insertType({ id: nameOrId, name: nameOrId });
  }

  return {
    getType,

    /** Returns the default volume type; null if it does not exist. */
    defaultType: async (): Promise<VolumeTypeRecord | null> => (await findType(store, DEFAULT_TYPE_NAME)) ?? null,

    listTypes: (_caller: Caller, page: Page = {}): Promise<readonly VolumeTypeRecord[]> =>
      listPage(store, types, 'newest first', page, (rows) => rows),

    createType: (
      _caller: Caller,
      fields: VolumeTypeFields & { readonly name: string; readonly id?: string },
    ): Promise<VolumeTypeRecord> => insertType(fields),

    async updateType(_caller: Caller, id: string, change: VolumeTypeFields): Promise<VolumeTypeRecord> {
      rejectNul(change);
      const definedFields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      return retryOnUniqueViolation(store, async (tx) => {
        const type = await types.lock(tx, id);
        if (!type) throw typeNotFound(id);
        const existingType = change.name === undefined ? undefined : await findType(tx, change.name);
        if (existingType && existingType.id !== id)
          throw new CatalogError('VOLUME_TYPE_EXISTS', `Volume Type ${change.name} already exists.`);
        if (change.name !== undefined && change.name !== type.name) await renameInVolumes(tx, type.name, change.name);
        return types.update(tx, { ...type, ...definedFields });
      });
    },

    deleteType: (_caller: Caller, id: string): Promise<void> =>
      store.transaction(async (tx) => {
        const type = await types.lock(tx, id);
        if (!type) throw typeNotFound(id);
        const volumeCount = await volumes.count(tx, (q) => q.where('type_name', '=', type.name));
        if (volumeCount > 0) throw new CatalogError('VOLUME_TYPE_IN_USE', `Target volume type ${id} is still in use.`);
        await types.delete(tx, id);
      }),
  };
}
