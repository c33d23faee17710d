import { badRequest } from '../../errors/refusal.js';
import type { FlavorCopy } from '../../model/index.js';

type Texts = Readonly<Record<string, string>>;

/** What a machine's image says of itself: for servers that boot from a volume, what the volume keeps of its image. */
export interface ImageFacts {
  readonly id?: string;
  readonly name?: string | null;
  readonly properties: Texts;
}

/** A flavor and an image that a server is made of. */
export interface MadeOf {
  readonly flavor: Pick<FlavorCopy, 'name' | 'vcpus' | 'memoryMb' | 'extraSpecs'>;
  readonly image: ImageFacts;
}

/** An option that flavors have as `hw:NAME` and images as `hw_NAME`. */
export interface Requested {
  readonly ofFlavor: string | undefined;
  readonly ofImage: string | undefined;
}

/** What the flavor and the image say about an option. */
export function requested({ flavor, image }: MadeOf, name: string): Requested {
  return { ofFlavor: flavor.extraSpecs[`hw:${name}`], ofImage: image.properties[`hw_${name}`] };
}

const INTEGER = /^\s*[-+]?\d+\s*$/;

/** Parses an integer of a flavor; 400 for any other text. */
export function flavorInteger(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!INTEGER.test(text)) throw badRequest(`Invalid flavor extra spec. Error: ${notInteger(text)}`);
  return Number(text);
}

/** Parses an integer of an image; 400 for any other text. */
export function imageInteger(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!INTEGER.test(text)) throw badRequest(`Invalid image metadata. Error: ${notInteger(text)}`);
  return Number(text);
}

export const isInteger = (text: string) => INTEGER.test(text);

const notInteger = (text: string) => `invalid literal for int() with base 10: '${text}'`;

/** Throws 400 unless an image's property is one of the values that the option may have. */
export function checkImageValue(value: string | undefined, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value))
    throw badRequest(`Invalid image metadata. Error: Field value ${value} is invalid`);
}

/** Allowed values as the original's messages print them. */
export const inMessage = (allowed: readonly string[]) => `(${allowed.map((value) => `'${value}'`).join(', ')})`;
