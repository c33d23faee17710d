import { lookThenInsert } from '../../store/look-then-insert.js';
import { derivedUuid } from '../derived-uuid.js';
import { newVolumeRecord, type VolumeContext } from './volume-context.js';
import { type VolumeRecord, volumeTables } from './volume-tables.js';
import { allowsMultiattach, findType, type VolumeTypeFields } from './volume-types.js';

const { types, volumes } = volumeTables;

/** Volume types and volumes of a preset. */
export interface VolumeSeed {
  readonly types?: readonly (VolumeTypeFields & { readonly id?: string; readonly name: string })[];
  readonly volumes?: readonly (Pick<VolumeRecord, 'id' | 'projectId' | 'sizeGb'> & Partial<VolumeRecord>)[];
}

/** Adds what is not there yet; what is there stays as it has become. */
export async function seedVolumes({ store, clock }: VolumeContext, seed: VolumeSeed): Promise<void> {
  for (const { id, name, description = null, isPublic = true, extraSpecs = {} } of seed.types ?? []) {
    await lookThenInsert(store, async (tx) => {
      if (await findType(tx, name)) return;
      const record = { id: id ?? derivedUuid(`volume-type/${name}`), name, description, isPublic, extraSpecs };
      await types.insert(tx, { ...record, createdAt: clock.now() });
    });
  }
  for (const volume of seed.volumes ?? []) {
    await lookThenInsert(store, async (tx) => {
      if (await volumes.get(tx, volume.id)) return;
      const type = volume.volumeType ? await findType(tx, volume.volumeType) : undefined;
      const multiattach = volume.multiattach ?? (type !== undefined && allowsMultiattach(type));
      await volumes.insert(tx, newVolumeRecord({ userId: '', ...volume, multiattach }, clock.now()));
    });
  }
}
