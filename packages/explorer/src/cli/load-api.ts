import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Version } from '@apistrata/microversion';
import { type ApiDescription, breakpointsOfOperation, type Operation } from '@apistrata/microversion/router';
import { VersionRange } from '../model/versions.js';
import { CommandError } from './command-error.js';

const COMPUTE_API = '@apistrata/compute-router';

/** An API as a module exports it. */
export interface LoadedApi {
  readonly operations: readonly Operation[];
  readonly description: ApiDescription;
  readonly versions: VersionRange;
}

/** The module's address as somebody in the folder means it; a package that is not there may be beside this one. */
function addressOf(module: string, folder: string): string {
  const file = resolve(folder, module);
  if (existsSync(file)) return pathToFileURL(file).href;
  if (/^[./]/.test(module)) throw new CommandError(`There is no file ${file}: --operations takes a file or a package`);
  try {
    return pathToFileURL(createRequire(join(folder, 'from-here.js')).resolve(module)).href;
  } catch {
    return module;
  }
}

async function load(module: string, folder: string): Promise<Readonly<Record<string, unknown>>> {
  const address = addressOf(module, folder);
  try {
    return await import(address);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const missing = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${module}'`);
    if (missing && module === COMPUTE_API)
      throw new CommandError(
        `${COMPUTE_API} is not installed: npm install ${COMPUTE_API}, or name your own operations with --operations MODULE`,
      );
    if (missing) throw new CommandError(`There is no package "${module}": install it, or write a file as ./api.js`);
    throw new CommandError(`${module} cannot be loaded: ${message.split('\n')[0]}`);
  }
}

/** From the lowest to the highest version that the module names, or that any of its operations knows. */
function versionsOf(loaded: Readonly<Record<string, unknown>>, operations: readonly Operation[]): VersionRange {
  const known = operations.flatMap(breakpointsOfOperation).sort((a, b) => a.compare(b));
  const highest = loaded.MAX_VERSION ?? known.at(-1)?.text;
  // Windows say when something began; what was there before began with the first version of all.
  const lowest = loaded.MIN_VERSION ?? (known[0] && `${known[0].major}.1`);
  if (typeof lowest !== 'string' || typeof highest !== 'string')
    throw new CommandError('The operations name no version: export MIN_VERSION and MAX_VERSION beside `operations`');
  return new VersionRange(lowest, highest);
}

/**
 * Loads the operations of an API, its `description` where it exports one, and its versions (`MIN_VERSION`,
 * `MAX_VERSION`, or those that the operations name). Throws a {@link CommandError} that names the cure.
 *
 * @param folder what a relative path, or the name of a package, is looked up from
 */
export async function loadApi(module: string = COMPUTE_API, folder: string = process.cwd()): Promise<LoadedApi> {
  const loaded = await load(module, folder);
  const { operations } = loaded;
  if (!Array.isArray(operations))
    throw new CommandError(`${module} exports no \`operations\`: export the array that createRouter() is given`);
  const description = (loaded.description ?? loaded.computeApiDescription ?? { title: 'API' }) as ApiDescription;
  return { operations, description, versions: versionsOf(loaded, operations) };
}

/** The version of a text, where the API has it. Throws a {@link CommandError} that says which there are. */
export function versionIn({ versions }: LoadedApi, text: string): Version {
  const found = versions.find(text);
  if (!found) throw new CommandError(`"${text}" is no version of this API: it has ${versions.min} to ${versions.max}`);
  return found;
}
