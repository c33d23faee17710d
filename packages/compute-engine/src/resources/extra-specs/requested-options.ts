import { badRequest } from '../../errors/rejection.js';
import type { FlavorCopy } from '../../model/index.js';

type StringRecord = Readonly<Record<string, string>>;

/**
 * A server's image with its properties. If the server boots from a volume, the properties are those that the volume
 * copied from its image.
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
export interface RequestedValues {
  readonly flavorValue: string | undefined;
  readonly imageValue: string | undefined;
}

/** Returns the values that a flavor and an image set for an option. */
export function requestedValuesOf({ flavor, image }: OptionSources, name: string): RequestedValues {
  return { flavorValue: flavor.extraSpecs[`hw:${name}`], imageValue: image.properties[`hw_${name}`] };
}

const INTEGER_PATTERN = /^\s*[-+]?\d+\s*$/;

/** Parses an integer in a flavor extra spec. Returns 0 for undefined. Throws 400 for a string that is not an integer. */
export function parseFlavorInteger(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!INTEGER_PATTERN.test(text)) throw badRequest(`Invalid flavor extra spec. Error: ${notIntegerMessage(text)}`);
  return Number(text);
}

/** Parses an integer in an image property. Returns 0 for undefined. Throws 400 for a string that is not an integer. */
export function parseImageInteger(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!INTEGER_PATTERN.test(text)) throw badRequest(`Invalid image metadata. Error: ${notIntegerMessage(text)}`);
  return Number(text);
}

export const isInteger = (text: string) => INTEGER_PATTERN.test(text);

const notIntegerMessage = (text: string) => `invalid literal for int() with base 10: '${text}'`;

/** Throws 400 unless an image property has one of the allowed values. */
export function checkImageValue(value: string | undefined, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value))
    throw badRequest(`Invalid image metadata. Error: Field value ${value} is invalid`);
}

/** Formats allowed values as in Nova's error messages. */
export const formatAllowed = (allowed: readonly string[]) => `(${allowed.map((value) => `'${value}'`).join(', ')})`;
