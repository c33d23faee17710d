import { RESOURCE_CLASSES, TRAITS } from '@apistrata/compute-engine/api';
import type { Call } from '../service/call.js';
import { hostOffers } from './host-offers.js';

/** Returns the resource classes or traits that clients have created. */
export const createdNames = (call: Call, kind: 'classes' | 'traits') =>
  call.cloud.documents.table<true>(`placement/${kind}`);

/** Returns all resource classes: standard classes, the hosts' classes, and classes that clients have created. */
export async function classNames(call: Call): Promise<ReadonlySet<string>> {
  const hostClasses = (await hostOffers(call)).flatMap(({ inventories }) => Object.keys(inventories));
  return new Set([...RESOURCE_CLASSES, ...createdNames(call, 'classes').keys(), ...hostClasses]);
}

/** Returns all traits: standard traits, the hosts' traits, and traits that clients have created. */
export async function traitNames(call: Call): Promise<ReadonlySet<string>> {
  const hostTraits = (await hostOffers(call)).flatMap(({ traits }) => traits);
  return new Set([...TRAITS, ...createdNames(call, 'traits').keys(), ...hostTraits]);
}

/** Returns the error message for an unknown resource class. */
export const missingClass = (name: string) => `No such resource class ${name}.`;
/** Returns the error message for unknown traits. */
export const missingTraits = (names: readonly string[]) => `No such trait(s): ${names.join(', ')}.`;
