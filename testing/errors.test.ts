import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CatalogError } from '../packages/catalogs/src/errors/catalog-error.js';
import { type CatalogErrorCode, catalogErrorKinds } from '../packages/catalogs/src/errors/catalog-error-codes.js';
import { errorCodes as engineCodes } from '../packages/compute-engine/src/errors/engine-error.js';
import { Rejection } from '../packages/compute-engine/src/errors/rejection.js';
import { errorCodes as routerCodes } from '../packages/compute-router/src/errors.js';
import { PolicyDenied } from '../packages/compute-router/src/policy/policy-errors.js';
import { CommandError } from '../packages/explorer/src/cli/command-error.js';
import { errorCodes as explorerCodes } from '../packages/explorer/src/errors.js';
import { HealthcheckConfigError, errorCodes as healthCodes } from '../packages/healthcheck/src/errors.js';
import { RequestError, errorCodes as versionCodes } from '../packages/microversion/src/errors.js';
import { QemuError, errorCodes as qemuCodes } from '../packages/qemu/src/qemu-error.js';
import { InvalidQuota, errorCodes as quotaCodes } from '../packages/quota/src/errors.js';
import { StaleRecord } from '../packages/record-store/src/errors/stale-record.js';
import { storeErrorCodes } from '../packages/record-store/src/errors/store-error.js';
import { errorCodes as cloudCodes } from '../packages/test-cloud/src/errors.js';
import { ServiceError } from '../packages/test-cloud/src/service/service-error.js';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');

interface PackageErrors {
  /** The only class that extends `Error` directly. */
  readonly base: string;
  readonly codes: Readonly<Record<string, number>> | readonly string[];
  readonly example: Error & { readonly code: string; readonly url: string };
}

const catalogCodes = Object.fromEntries(
  Object.keys(catalogErrorKinds).map((code) => [code, new CatalogError(code as CatalogErrorCode, '').status]),
);

/** The errors of each package. request-id throws only TypeErrors for invalid options. */
const packages: Readonly<Record<string, PackageErrors>> = {
  microversion: { base: 'MicroversionError', codes: versionCodes, example: new RequestError('NO_ROUTE', 'none') },
  healthcheck: {
    base: 'HealthcheckError',
    codes: healthCodes,
    example: new HealthcheckConfigError('path', 'it is empty', 'Leave it out'),
  },
  quota: { base: 'QuotaError', codes: quotaCodes, example: new InvalidQuota('no kind') },
  'record-store': { base: 'CodedError', codes: storeErrorCodes, example: new StaleRecord('changed') },
  catalogs: {
    base: 'CodedError',
    codes: { ...catalogCodes, RESPONSE_TOO_LARGE: 503 },
    example: new CatalogError('FORBIDDEN', 'not yours'),
  },
  'compute-engine': {
    base: 'CodedError',
    codes: engineCodes,
    example: new Rejection('CONFLICT', 'not now'),
  },
  'compute-router': { base: 'ComputeRouterError', codes: routerCodes, example: new PolicyDenied('os:rule') },
  explorer: { base: 'ExplorerError', codes: explorerCodes, example: new CommandError('one word too many') },
  qemu: { base: 'QemuError', codes: qemuCodes, example: new QemuError('UNSUPPORTED', 'no volumes') },
  'test-cloud': { base: 'TestCloudError', codes: cloudCodes, example: new ServiceError(404, 'no port') },
};

/** Returns the sources of a package. The router of microversion throws errors of microversion. */
function sourcesOf(name: string): readonly string[] {
  if (name === 'microversion') return [...sourcesIn('microversion'), ...sourcesIn('microversion-router')];
  return sourcesIn(name);
}

function sourcesIn(folder: string): readonly string[] {
  const src = join(root, 'packages', folder, 'src');
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(src, file), 'utf8'));
}

/** The rows of a package on the page: code, the anchor in front of it, and the status if there is one. */
function rowsOf(name: string) {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${name}\n`)) ?? '';
  const rows = section.matchAll(/^\| <a id="([^"]*)"><\/a>`([A-Z_]+)` \|(?: (\d{3}) \|)? (.+) \| (.+) \|$/gm);
  return [...rows].map(([, anchor, code = '', status, cause, fix]) => ({ anchor, code, status, cause, fix }));
}

describe.each(Object.entries(packages))('errors of %s', (name, { base, codes, example }) => {
  it('have one base class', () => {
    const heads = sourcesOf(name).flatMap((text) => [
      ...text.matchAll(/^(?:export )?(?:abstract )?class (\w+)([^{]*)/gm),
    ]);
    const derived = heads.flatMap(([, child = '', head = '']) => {
      // The last match: type parameters extend something too.
      const parent = /.* extends (\w+)/s.exec(head)?.[1];
      return parent === undefined ? [] : [{ child, parent }];
    });
    const parents = new Map(derived.map(({ child, parent }) => [child, parent]));
    const rooted = (child: string): boolean =>
      child === base || (parents.has(child) && rooted(parents.get(child) ?? ''));
    const errors = derived
      .map(({ child }) => child)
      .filter((child) => child === base || /Error$/.test(parents.get(child) ?? '') || rooted(child));
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.filter((child) => !rooted(child))).toEqual([]);
  });

  it('are all on the page, with their status, and nothing else is', () => {
    const listed = rowsOf(name);
    const knownCodes = Array.isArray(codes) ? codes.map((code) => [code, undefined]) : Object.entries(codes);
    const listedCodes = listed.map(({ code, status }) => [code, status === undefined ? undefined : Number(status)]);
    expect(listedCodes.sort()).toEqual(knownCodes.sort());
    expect(listed.map(({ anchor }) => anchor)).toEqual(listed.map(({ code }) => `${name}-${code.toLowerCase()}`));
  });

  it('are all thrown somewhere', () => {
    const text = sourcesOf(name)
      .join('\n')
      .replaceAll(/\/\*\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm, '');
    // A code occurs in the list of codes and where it is thrown. A class with a single code has no list.
    const min = Object.keys(codes).length > 1 ? 2 : 1;
    const unthrown = rowsOf(name).filter(({ code }) => text.split(new RegExp(`\\b${code}\\b`)).length - 1 < min);
    expect(unthrown.map(({ code }) => code)).toEqual([]);
  });

  it('have a name, a code and a section of the page, which is printed with them', () => {
    expect(example).toMatchObject({ name: example.constructor.name, code: expect.any(String) });
    const [address, anchor] = example.url.split('#');
    expect(address).toBe('https://github.com/apistrata/apistrata/blob/main/docs/errors.md');
    expect(rowsOf(name).map((row) => row.anchor)).toContain(anchor);
    expect(`${example}`).toBe(`${example.name}: ${example.message} (${example.url})`);
    expect(inspect(example)).toContain(example.url);
  });
});
