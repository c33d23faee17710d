import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import type { OptionKind } from './option-kinds.js';
import { type OptionName, optionTable } from './options.js';
import { StartError } from './start-error.js';

const entries = Object.entries(optionTable) as [OptionName, OptionKind<unknown>][];

const configSchema = z
  .strictObject(
    Object.fromEntries(
      entries.flatMap(([name, { schema, help, fallback }]) => {
        if (!schema) return [];
        const described = schema.describe(help);
        return [[name, (fallback === undefined ? described : described.meta({ default: fallback })).optional()]];
      }),
    ),
  )
  .meta({ title: 'Configuration of the Apistrata reference server' });

/** The JSON Schema of the configuration file. */
export function configJsonSchema(): object {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });
}

/**
 * Reads a configuration file, YAML or JSON.
 *
 * @throws StartError with the file, the place in it and what belongs there
 */
export function readConfigFile(file: string): Partial<Record<OptionName, unknown>> {
  const document = parseDocument(textOf(file));
  const [broken] = document.errors;
  if (broken) throw new StartError(`--config ${file}: ${broken.message.split('\n')[0]!.replace(/:$/, '')}`);
  const checked = configSchema.safeParse(document.toJS() ?? {});
  if (checked.success) return checked.data;
  const { path, message, ...issue } = checked.error.issues[0]!;
  const place = path.join('.') || 'the file';
  const cure = issue.code === 'unrecognized_keys' ? '; --print-config-schema tells what there is' : '';
  throw new StartError(`--config ${file}: ${place}: ${message}${cure}`);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`--config ${file} cannot be read: ${(error as Error).message}`);
  }
}
