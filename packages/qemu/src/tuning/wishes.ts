import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import { honoured, type Wish } from './honoured.js';

/** What flavor and image say to a wish; undefined: nothing. */
export type Wishes = (wish: Wish) => string | undefined;

/** Hears a flavor and an image out; where both speak, the flavor. */
export function wishesOf(
  { extraSpecs }: Pick<FlavorCopy, 'extraSpecs'>,
  properties: Server['imageProperties'],
): Wishes {
  return (wish) => {
    const { spec, property }: { readonly spec?: string; readonly property?: string } = honoured[wish];
    return (spec && extraSpecs[spec]) ?? (property && properties[property]) ?? undefined;
  };
}

/** The same for a server that is there. */
export function wishesOfServer({ flavor, imageProperties }: Pick<Server, 'flavor' | 'imageProperties'>): Wishes {
  return wishesOf(flavor, imageProperties);
}

const YES = new Set(['1', 't', 'true', 'on', 'y', 'yes']);

/** Whether a wish is a yes, in any of the ways that there are. */
export function isYes(text: string | undefined): boolean {
  return text !== undefined && YES.has(text.trim().toLowerCase());
}

/** A positive number; undefined for anything else, 0 among it, which stands for no bound. */
export function positive(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
