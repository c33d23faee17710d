import { badRequest } from '../../errors/rejection.js';
import type { FlavorCopy } from '../../model/index.js';

type StringRecord = Readonly<Record<string, string>>;

/**
 * A server's image with its properties. For a server that boots from a volume, the properties are the volume's copy.
 */
export interface ImageFacts {
  readonly id?: string;
  readonly name?: string | null;
  readonly properties: StringRecord;
}

/** The flavor and image of a server. */
export interface OptionSources {
  readonly flavor: Pick<FlavorCopy, 'name' | 'vcpus' | 'memoryMb' | 'extraSpecs'>;
  readonly image: ImageFacts;
}

/** The values of an option that a flavor sets as `hw:NAME` and an image as `hw_NAME`. */
export interface Requested {
  readonly flavorValue: string | undefined;
  readonly imageValue: string | undefined;
}

/** Returns the values that a flavor and an image set for an option. */
export function requested({ flavor, image }: OptionSources, name: string): Requested {
  return { flavorValue: flavor.extraSpecs[`hw:${name}`], imageValue: image.properties[`hw_${name}`] };
}

const INTEGER = /^\s*[-+]?\d+\s*$/;

/** Parses an integer in a flavor extra spec. Returns 0 for undefined, and throws 400 for any other string. */
export function flavorInteger(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!INTEGER.test(text)) throw badRequest(`Invalid flavor extra spec. Error: ${notInteger(text)}`);
  return Number(text);
}

/** Parses an integer in an image property. Returns 0 for undefined, and throws 400 for any other string. */
export function imageInteger(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!INTEGER.test(text)) throw badRequest(`Invalid image metadata. Error: ${notInteger(text)}`);
  return Number(text);
}

export const isInteger = (text: string) => INTEGER.test(text);

const notInteger = (text: string) => `invalid literal for int() with base 10: '${text}'`;

/** Throws 400 unless an image property has one of the allowed values. */
export function checkImageValue(value: string | undefined, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value))
    throw badRequest(`Invalid image metadata. Error: Field value ${value} is invalid`);
}

/** Formats allowed values as in Nova's error messages. */
export const formatAllowed = (allowed: readonly string[]) => `(${allowed.map((value) => `'${value}'`).join(', ')})`;
