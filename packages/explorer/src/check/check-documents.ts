import { Version } from '@apistrata/microversion';
import type { OperationChange } from '@apistrata/microversion-router';
import { documentedApi } from '../documents/documented-api.js';
import { objectOrEmpty } from '../documents/openapi-document.js';
import { apiChanges } from '../model/api-changes.js';

/** The result of comparing a published document with the current one. */
export interface CheckResult {
  /** `info.version` of the published document. */
  readonly from: string;
  /** `info.version` of the current document. */
  readonly to: string;
  /** Whether the current document's version allows incompatible changes. */
  readonly newVersion: boolean;
  /** Whether the check passed: no change requires a new version, or the current version permits the changes. */
  readonly passed: boolean;
  /** Number of operations and shared schemas with incompatible changes. */
  readonly breaking: number;
  readonly changes: readonly OperationChange[];
}

/** Options for `checkDocuments()`. */
export interface CheckOptions {
  /** Whether compatible changes also require a new version. Default: false. */
  readonly strict?: boolean;
}

function versionOf(document: unknown): string {
  return String(objectOrEmpty(objectOrEmpty(document).info).version ?? '');
}

function parseVersion(text: string): Version | undefined {
  try {
    return Version.of(text.replace(/^v(?=\d)/, ''));
  } catch {
    return undefined;
  }
}

/** Returns the part of a semver version that incompatible changes increase: `2` for 2.4.1, `0.4` for 0.4.1. */
const compatibilityPrefix = ({ major, minor }: Version) => (major === '0' ? `0.${minor}` : major);

/**
 * Returns whether the version `to` permits the changes since `from`. With semver, incompatible changes require a higher
 * major number (below 1.0.0, a higher minor number). Otherwise, any higher version permits changes. Versions in any
 * other format, or in two different formats, only have to differ.
 */
function permitsChanges(from: string, to: string, isBreaking: boolean): boolean {
  const [before, after] = [parseVersion(from), parseVersion(to)];
  if (!before || !after || before.scheme !== after.scheme) return from !== to;
  if (after.compare(before) <= 0) return false;
  if (!isBreaking || before.scheme.name !== 'semver') return true;
  return compatibilityPrefix(after) !== compatibilityPrefix(before);
}

/**
 * Compares a published OpenAPI document with the current one. A change is incompatible if it can break clients of the
 * published document: an operation, a parameter, a field or a successful status is removed, a request requires more or
 * accepts less, or a response can contain more kinds of values.
 *
 * @throws DocumentError if a document is not OpenAPI 3.0 or 3.1
 */
export function checkDocuments(
  published: unknown,
  current: unknown,
  { strict = false }: CheckOptions = {},
): CheckResult {
  const { operations } = documentedApi([
    { document: published, version: '1', label: 'the published document' },
    { document: current, version: '2', label: 'the current document' },
  ]);
  const changes = apiChanges(operations, '1', '2');
  const [from, to] = [versionOf(published), versionOf(current)];
  const breaking = changes.filter((change) => change.breaking).length;
  const needsNewVersion = breaking > 0 || (strict && changes.length > 0);
  const passed = !needsNewVersion || permitsChanges(from, to, breaking > 0);
  return { from, to, newVersion: permitsChanges(from, to, true), passed, breaking, changes };
}
