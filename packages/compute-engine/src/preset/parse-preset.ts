import { z } from 'zod';
import { InvalidPreset } from './invalid-preset.js';
import type { Preset } from './preset.js';
import { presetSchema } from './preset-schema.js';

/**
 * Validates a preset from an external source, such as a file.
 *
 * @throws {@link InvalidPreset}
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
  const parseResult = presetSchema.safeParse(value);
  if (parseResult.success) return parseResult.data;
  const [issue] = parseResult.error.issues;
  // An issue about a key only states that the key is invalid; its nested issue states why.
  const cause = issue?.code === 'invalid_key' ? (issue.issues[0] ?? issue) : issue;
  throw new InvalidPreset(issue?.path.join('.') ?? '', cause?.message ?? 'is not a preset');
}

/** Returns the JSON Schema of preset files, for editors and other programs. */
export function presetJsonSchema(): object {
  return z.toJSONSchema(presetSchema, { io: 'input', unrepresentable: 'any' });
}
