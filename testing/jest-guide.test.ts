import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundledProgram } from './bundled-program.js';

const root = join(import.meta.dirname, '..');
const guide = readFileSync(join(root, 'docs/guides/testing-with-jest.md'), 'utf8');
const blockIn = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide)?.[1] ?? '';

let project: string;
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'apistrata-jest-'));
  const bin = join(project, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  // The command has the name that npm gives it.
  const { bin: commands } = JSON.parse(readFileSync(join(root, 'packages/test-cloud/package.json'), 'utf8'));
  const program = await bundledProgram(join(root, 'packages/test-cloud/src/cli/main.ts'));
  for (const name of Object.keys(commands)) {
    const command = join(bin, name);
    writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(command, 0o755);
  }
  symlinkSync(join(root, 'node_modules/jest/bin/jest.js'), join(bin, 'jest'));
  writeFileSync(join(project, 'package.json'), blockIn('json'));
  writeFileSync(join(project, 'servers.test.js'), blockIn('js'));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

it('the example of the guide for Jest runs as written, with the command of the test cloud', () => {
  // Jest would interpret the variables of this test runner as its own.
  const { NODE_OPTIONS: _, NODE_ENV: __, ...env } = process.env;
  const options = { cwd: project, env, encoding: 'utf8' } as const;
  const passed = spawnSync('npm', ['test', '--silent'], options);
  expect(passed.stderr).toContain('Tests:       1 passed, 1 total');
  expect(passed.status).toBe(0);
  const wrong = blockIn('js').replace('m1.tiny', 'm1.none');
  writeFileSync(join(project, 'servers.test.js'), wrong);
  expect(() => execFileSync('npm', ['test', '--silent'], { ...options, stdio: 'pipe' })).toThrow();
});
