import type { Preset } from '../../preset/preset.js';
import { lookThenInsert } from '../../store/look-then-insert.js';
import { derivedUuid } from '../derived-uuid.js';
import { newVolumeRecord, type VolumeContext } from './volume-context.js';
import { volumeTables } from './volume-tables.js';
import { allowsMultiattach, findType } from './volume-types.js';

const { types, volumes } = volumeTables;

/** Volume types and volumes of a preset. */
export type VolumesSeed = Pick<Preset, 'volumeTypes' | 'volumes'>;

/** Adds what is not there yet; what is there stays as it has become. */
export async function seedVolumes({ store, clock }: VolumeContext, seed: VolumesSeed): Promise<void> {
  for (const { id, name, description = null, isPublic = true, extraSpecs = {} } of seed.volumeTypes ?? []) {
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
