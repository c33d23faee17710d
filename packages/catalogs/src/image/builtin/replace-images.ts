import type { Store } from '@apistrata/record-store';
import { imageTables } from './image-tables.js';

const { images } = imageTables;

/**
 * Replaces all other images whose ids begin with a prefix: hides these images, and makes the image with the given id
 * visible. Servers can still use hidden images. No-op if all other images are hidden already.
 */
export async function replaceImages(store: Store, id: string, idPrefix: string, now: number): Promise<void> {
  await store.transaction(async (tx) => {
    const all = await images.find(tx, (query) => query.where('id', 'like', `${idPrefix}%`));
    const former = all.filter((image) => image.id !== id && !image.hidden);
    if (former.length === 0) return;
    for (const image of former) await images.update(tx, { ...image, hidden: true, updatedAt: now });
    const current = all.find((image) => image.id === id);
    if (current?.hidden) await images.update(tx, { ...current, hidden: false, updatedAt: now });
  });
}
