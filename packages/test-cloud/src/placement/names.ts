import { RESOURCE_CLASSES, TRAITS } from '@apistrata/compute-engine/api';
import type { Call } from '../service/call.js';
import { hostOffers } from './host-offers.js';

/** Returns the names that clients have created. */
export const createdNames = (call: Call, kind: 'classes' | 'traits') =>
  call.cloud.documents.table<true>(`placement/${kind}`);

/** Returns the resource classes: the standard ones, the hosts' classes, and the classes that clients have created. */
export async function classNames(call: Call): Promise<ReadonlySet<string>> {
  const hostClasses = (await hostOffers(call)).flatMap(({ inventories }) => Object.keys(inventories));
  return new Set([...RESOURCE_CLASSES, ...createdNames(call, 'classes').keys(), ...hostClasses]);
}

/** Returns the traits: the standard ones, the hosts' traits, and the traits that clients have created. */
export async function traitNames(call: Call): Promise<ReadonlySet<string>> {
  const hostTraits = (await hostOffers(call)).flatMap(({ traits }) => traits);
  return new Set([...TRAITS, ...createdNames(call, 'traits').keys(), ...hostTraits]);
}

/** Returns the message for an unknown resource class. */
export const missingClass = (name: string) => `No such resource class ${name}.`;
/** Returns the message for unknown traits. */
export const missingTraits = (names: readonly string[]) => `No such trait(s): ${names.join(', ')}.`;
