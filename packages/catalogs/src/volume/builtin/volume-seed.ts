import { retryOnUniqueViolation } from '@apistrata/record-store';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import { newVolumeRecord, type VolumeContext } from './volume-context.js';
import { type VolumeRecord, type VolumeTypeRecord, volumeTables } from './volume-tables.js';
import { allowsMultiattach, findType } from './volume-types.js';

const { types, volumes } = volumeTables;

/** A preset volume type. */
export type VolumeTypeSeed = Pick<VolumeTypeRecord, 'name'> &
  Partial<Pick<VolumeTypeRecord, 'id' | 'description' | 'isPublic' | 'extraSpecs'>>;

/** A preset volume. The size is in GiB. */
export type VolumeSeed = Pick<VolumeRecord, 'id' | 'projectId' | 'sizeGb'> &
  Partial<Omit<VolumeRecord, 'seq' | 'revision'>>;

/** The preset volume types and volumes. */
export interface VolumesSeed {
  readonly volumeTypes?: readonly VolumeTypeSeed[];
  readonly volumes?: readonly VolumeSeed[];
}

/** Creates the preset volume types and volumes that do not exist yet. Existing ones are not changed. */
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
