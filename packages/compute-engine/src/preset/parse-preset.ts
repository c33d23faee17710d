import { z } from 'zod';
import { InvalidPreset } from './invalid-preset.js';
import type { Preset } from './preset.js';
import { presetSchema } from './preset-schema.js';

/**
 * Checks a preset that comes from outside, a file for instance. Throws {@link InvalidPreset}.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { createEngine } from '@apistrata/compute-engine';
 * import { parsePreset } from '@apistrata/compute-engine/preset';
 *
 * const preset = parsePreset(JSON.parse(readFileSync('preset.json', 'utf8')));
 * const engine = await createEngine({ preset });
 * ```
 */
export function parsePreset(value: unknown): Preset {
  const checked = presetSchema.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new InvalidPreset(issue?.path.join('.') ?? '', issue?.message ?? 'is no preset');
}

/** The JSON Schema of files with presets, for editors and other programs. */
export function presetJsonSchema(): object {
  return z.toJSONSchema(presetSchema, { io: 'input', unrepresentable: 'any' });
}
