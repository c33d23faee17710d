import { retryOnUniqueViolation } from '@apistrata/record-store';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import { newVolumeRecord, type VolumeContext } from './volume-context.js';
import { type VolumeRecord, type VolumeTypeRecord, volumeTables } from './volume-tables.js';
import { allowsMultiattach, findType } from './volume-types.js';

const { types, volumes } = volumeTables;

/** A volume type that exists from the start. */
export type VolumeTypeSeed = Pick<VolumeTypeRecord, 'name'> &
  Partial<Pick<VolumeTypeRecord, 'id' | 'description' | 'isPublic' | 'extraSpecs'>>;

/** A volume that exists from the start. The size is in GiB. */
export type VolumeSeed = Pick<VolumeRecord, 'id' | 'projectId' | 'sizeGb'> &
  Partial<Omit<VolumeRecord, 'seq' | 'revision'>>;

/** Volume types and volumes that exist from the start. */
export interface VolumesSeed {
  readonly volumeTypes?: readonly VolumeTypeSeed[];
  readonly volumes?: readonly VolumeSeed[];
}

/** Adds missing types and volumes; existing ones are not changed. */
export async function seedVolumes({ store, clock }: VolumeContext, seed: VolumesSeed): Promise<void> {
  for (const { id, name, description = null, isPublic = true, extraSpecs = {} } of seed.volumeTypes ?? []) {
    await retryOnUniqueViolation(store, async (tx) => {
      if (await findType(tx, name)) return;
      const record = { id: id ?? derivedUuid(`volume-type/${name}`), name, description, isPublic, extraSpecs };
      await types.insert(tx, { ...record, createdAt: clock.now() });
    });
  }
  for (const volume of seed.volumes ?? []) {
    await retryOnUniqueViolation(store, async (tx) => {
      if (await volumes.get(tx, volume.id)) return;
      const type = volume.volumeType ? await findType(tx, volume.volumeType) : undefined;
      const multiattach = volume.multiattach ?? (type !== undefined && allowsMultiattach(type));
      await volumes.insert(tx, newVolumeRecord({ userId: '', ...volume, multiattach }, clock.now()));
    });
  }
}
