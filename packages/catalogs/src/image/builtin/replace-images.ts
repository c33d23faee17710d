import type { Store } from '@apistrata/record-store';
import { imageTables } from './image-tables.js';

const { images } = imageTables;

/**
 * Replaces all other images whose ids begin with a prefix: hides these images, and makes the image with the given id
 * visible. Servers can still use hidden images. No-op if all other images are hidden already.
 */
export async function replaceImages(store: Store, id: string, idPrefix: string, now: number): Promise<void> {
  await store.transaction(async (tx) => {
    const matchingImages = await images.find(tx, (query) => query.where('id', 'like', `${idPrefix}%`));
    const replacedImages = matchingImages.filter((image) => image.id !== id && !image.hidden);
    if (replacedImages.length === 0) return;
    for (const image of replacedImages) await images.update(tx, { ...image, hidden: true, updatedAt: now });
    const currentImage = matchingImages.find((image) => image.id === id);
    if (currentImage?.hidden) await images.update(tx, { ...currentImage, hidden: false, updatedAt: now });
  });
}
