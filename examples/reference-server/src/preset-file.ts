import { readFileSync } from 'node:fs';
import type { Preset } from '@apistrata/compute-engine';
import { InvalidPreset, parsePreset } from '@apistrata/compute-engine/preset';
import { StartError } from './start-error.js';

/** Reads a JSON file. @throws {@link StartError} with the file and the reason */
export function readJson(option: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartError(`--${option} ${file}: ${(error as Error).message}`);
  }
}

/** Reads a preset. @throws {@link StartError} with the path of the first invalid value */
export function readPreset(file: string): Preset {
  try {
    return parsePreset(readJson('preset', file));
  } catch (error) {
    if (error instanceof InvalidPreset) throw new StartError(`--preset ${file}: ${error.message}`);
    throw error;
  }
}
