import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import { type MachineOption, supportedOptions } from './supported-options.js';

/** Returns the value of a machine option; undefined if neither flavor nor image sets it. */
export type MachineOptions = (option: MachineOption) => string | undefined;

/** Returns a function that reads machine options from a flavor and an image; the flavor takes precedence. */
export function machineOptionsOf(
  { extraSpecs }: Pick<FlavorCopy, 'extraSpecs'>,
  properties: Server['imageProperties'],
): MachineOptions {
  return (option) => {
    const { spec, property }: { readonly spec?: string; readonly property?: string } = supportedOptions[option];
    return (spec && extraSpecs[spec]) ?? (property && properties[property]) ?? undefined;
  };
}

/** Returns a function that reads the machine options of an existing server. */
export function optionsOfServer({
  flavor,
  imageProperties,
}: Pick<Server, 'flavor' | 'imageProperties'>): MachineOptions {
  return machineOptionsOf(flavor, imageProperties);
}

/** Parses a positive integer; returns undefined for all other values, including 0, which means unlimited. */
export function parsePositiveInteger(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
