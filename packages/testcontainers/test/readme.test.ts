import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { bundledProgram } from '../../../testing/bundled-program.js';
import { startContainerEngine, useContainerEngine } from './container-engine.js';

const at = (path: string) => join(import.meta.dirname, '../../..', path);

let engine: Awaited<ReturnType<typeof startContainerEngine>>;
beforeAll(async () => {
  engine = await startContainerEngine(await bundledProgram(at('packages/test-cloud/src/cli/main.ts')));
  useContainerEngine(engine);
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await engine?.close();
  vi.unstubAllEnvs();
});

it.each([
  ['packages/testcontainers/README.md', './readme.example.js'],
  ['docs/test-cloud-in-ci.md', './page.example.js'],
])('the example of %s starts a cloud', { timeout: 120_000 }, async (document, example) => {
  const code = readFileSync(join(import.meta.dirname, example.replace(/js$/, 'ts')), 'utf8');
  expect(readFileSync(at(document), 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\``);
  vi.stubEnv('OS_AUTH_URL', '');
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await import(example);
  expect(process.env.OS_AUTH_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/identity\/v3$/);
});
