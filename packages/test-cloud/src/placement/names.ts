import { RESOURCE_CLASSES, TRAITS } from '@apistrata/compute-engine/api';
import type { Call } from '../service/call.js';
import { hostProviders } from './host-offers.js';

/** Returns the resource classes or traits that clients have created. */
export const createdNameTable = (call: Call, kind: 'classes' | 'traits') =>
  call.cloud.documents.table<true>(`placement/${kind}`);

/** Returns all resource classes: standard classes, the hosts' classes, and classes that clients have created. */
export async function classNames(call: Call): Promise<ReadonlySet<string>> {
  const hostClasses = (await hostProviders(call)).flatMap(({ inventories }) => Object.keys(inventories));
  return new Set([...RESOURCE_CLASSES, ...createdNameTable(call, 'classes').keys(), ...hostClasses]);
}

/** Returns all traits: standard traits, the hosts' traits, and traits that clients have created. */
export async function traitNames(call: Call): Promise<ReadonlySet<string>> {
  const hostTraits = (await hostProviders(call)).flatMap(({ traits }) => traits);
  return new Set([...TRAITS, ...createdNameTable(call, 'traits').keys(), ...hostTraits]);
}

/** Returns the error message for an unknown resource class. */
export const unknownClassMessage = (name: string) => `No such resource class ${name}.`;
/** Returns the error message for unknown traits. */
export const unknownTraitsMessage = (names: readonly string[]) => `No such trait(s): ${names.join(', ')}.`;
