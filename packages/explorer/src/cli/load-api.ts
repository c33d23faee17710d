import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Version } from '@apistrata/microversion';
import { type ApiDescription, breakpointsOfOperation, type Operation } from '@apistrata/microversion-router';
import { VersionRange } from '../model/versions.js';
import { CommandError } from './command-error.js';

const COMPUTE_API_PACKAGE = '@apistrata/compute-router';

/** An API that was loaded from a module. */
export interface LoadedApi {
  readonly operations: readonly Operation[];
  readonly description: ApiDescription;
  readonly versions: VersionRange;
}

/**
 * Returns the import specifier of a module: a file or package that is resolved from `folder`, or, if neither exists
 * there, a dependency of this package.
 */
function importSpecifierOf(module: string, folder: string): string {
  const file = resolve(folder, module);
  if (existsSync(file)) return pathToFileURL(file).href;
  if (/^[./]/.test(module))
    throw new CommandError(`The file ${file} does not exist: --operations must be a file or a package`);
  try {
    return pathToFileURL(createRequire(join(folder, 'from-here.js')).resolve(module)).href;
  } catch {
    return module;
  }
}

async function importModule(module: string, folder: string): Promise<Readonly<Record<string, unknown>>> {
  const specifier = importSpecifierOf(module, folder);
  try {
    return await import(specifier);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${module}'`);
    if (isMissing && module === COMPUTE_API_PACKAGE)
      throw new CommandError(
        `${COMPUTE_API_PACKAGE} is not installed. Run npm install ${COMPUTE_API_PACKAGE}, or select a module with --operations MODULE`,
      );
    if (isMissing)
      throw new CommandError(`The package "${module}" is not installed. Install it, or select a file such as ./api.js`);
    throw new CommandError(`${module} cannot be loaded: ${message.split('\n')[0]}`);
  }
}

/**
 * Returns the versions that a module exports as a list or a range. Default: the versions in its operations' version
 * windows.
 */
function exportedVersions(
  moduleExports: Readonly<Record<string, unknown>>,
  operations: readonly Operation[],
): VersionRange {
  if (Array.isArray(moduleExports.versions)) return VersionRange.of(moduleExports.versions);
  const breakpoints = operations.flatMap(breakpointsOfOperation).sort((a, b) => a.compare(b));
  const highest = moduleExports.MAX_VERSION ?? breakpoints.at(-1)?.text;
  // The lowest version precedes the first breakpoint, because elements without a version window exist before it.
  const lowest = moduleExports.MIN_VERSION ?? (breakpoints[0] && `${breakpoints[0].major}.1`);
  if (typeof lowest !== 'string' || typeof highest !== 'string')
    throw new CommandError(
      'The operations have no version windows: export MIN_VERSION and MAX_VERSION with `operations`',
    );
  return VersionRange.between(lowest, highest);
}

/**
 * Loads an API's operations, its `description` if the module exports one, and its versions. If the module exports
 * neither `versions` nor `MIN_VERSION` and `MAX_VERSION`, the versions are those in the operations' version windows.
 * Throws a {@link CommandError} if the module cannot be loaded.
 *
 * @param folder the folder from which paths and packages are resolved
 */
export async function loadApi(
  module: string = COMPUTE_API_PACKAGE,
  folder: string = process.cwd(),
): Promise<LoadedApi> {
  const moduleExports = await importModule(module, folder);
  const { operations } = moduleExports;
  if (!Array.isArray(operations))
    throw new CommandError(
      `${module} does not export \`operations\`: export the array that is passed to createRouter()`,
    );
  const description = (moduleExports.description ??
    moduleExports.computeApiDescription ?? { title: 'API' }) as ApiDescription;
  return { operations, description, versions: exportedVersions(moduleExports, operations) };
}

/** Parses a version of the API. Throws a {@link CommandError} if the version does not exist. */
export function requireVersion({ versions }: LoadedApi, text: string): Version {
  const foundVersion = versions.find(text);
  if (!foundVersion)
    throw new CommandError(`"${text}" is not a version of this API: it supports ${versions.min} to ${versions.max}`);
  return foundVersion;
}
