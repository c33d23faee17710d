import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import { honoured, type MachineOption } from './honoured-options.js';

/** What flavor and image say to an option; undefined: nothing. */
export type MachineOptions = (option: MachineOption) => string | undefined;

/** Reads options from a flavor and an image; where both speak, from the flavor. */
export function machineOptionsOf(
  { extraSpecs }: Pick<FlavorCopy, 'extraSpecs'>,
  properties: Server['imageProperties'],
): MachineOptions {
  return (option) => {
    const { spec, property }: { readonly spec?: string; readonly property?: string } = honoured[option];
    return (spec && extraSpecs[spec]) ?? (property && properties[property]) ?? undefined;
  };
}

/** The same for a server that is there. */
export function optionsOfServer({
  flavor,
  imageProperties,
}: Pick<Server, 'flavor' | 'imageProperties'>): MachineOptions {
  return machineOptionsOf(flavor, imageProperties);
}

/** A positive number; undefined for anything else, 0 among it, which stands for no bound. */
export function positive(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
