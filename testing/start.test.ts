import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the keys that determine whether to install or build again, computed from a copy of their input files. */
function keys(): { install: string; build: string } {
  const module = join(folder, 'scripts/start-keys.mjs');
  const code = `import('${module}').then((m) => { const install = m.installKey(); console.log(JSON.stringify({ install, build: m.buildKey(install) })) })`;
  return JSON.parse(execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' }));
}

/** A separate folder with the files that determine whether to install or build. */
beforeAll(() => {
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', 'packages', 'examples', 'scripts', '*.json', '*.yaml'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  for (const file of files.trim().split('\n')) {
    if (!/\/src\/|package\.json$|tsconfig|\.yaml$|^scripts\//.test(file)) continue;
    mkdirSync(join(folder, file, '..'), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
});

it('npm start repeats only the steps that a change requires', () => {
  const before = keys();
  expect(keys()).toEqual(before);
  appendFileSync(join(folder, 'packages/quota/src/index.ts'), '\n');
  const edited = keys();
  expect([edited.install === before.install, edited.build === before.build]).toEqual([true, false]);
  writeFileSync(join(folder, 'packages/microversion/src/new-file.ts'), 'export {};');
  expect(keys().build).not.toBe(edited.build);
  // These files are not part of the server, so no step is required.
  const now = keys();
  appendFileSync(join(folder, 'examples/drop-in/src/main.ts'), '\n');
  appendFileSync(join(folder, 'examples/health-only/src/main.ts'), '\n');
  expect(keys()).toEqual(now);
  appendFileSync(join(folder, 'pnpm-lock.yaml'), '\n');
  expect(keys().install).not.toBe(before.install);
});

it('npm start reports an unsupported Node before newer syntax is loaded', () => {
  const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })";
  const { status, stderr } = spawnSync(
    process.execPath,
    [`--import=data:text/javascript,${encodeURIComponent(old)}`, join(root, 'scripts/start.mjs')],
    { encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^Node 18\.20\.4 is too old: .* 20\.19 or newer/)]);
});
