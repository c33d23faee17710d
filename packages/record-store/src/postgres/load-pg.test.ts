import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadPg } from './load-pg.js';

describe('the optional dependency pg', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'apistrata-pg-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const load = () => loadPg(pathToFileURL(join(folder, 'program.js')).href);

  it('is loaded if it is installed', () => {
    expect(loadPg(import.meta.url).Pool).toBeTypeOf('function');
  });

  it('is reported with the command that installs it if it is missing', () => {
    expect(load).toThrow('A PostgreSQL database needs the package pg, which is not installed: npm install pg');
  });

  it('fails with its own error if it is installed but cannot be loaded', () => {
    const installed = join(folder, 'node_modules/pg');
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, 'package.json'), '{ "name": "pg", "main": "index.js" }');
    writeFileSync(join(installed, 'index.js'), "require('pg-pool-that-is-missing')");
    expect(load).toThrow(/pg-pool-that-is-missing/);
  });
});
