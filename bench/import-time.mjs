// The time to import each package as published, without Node's own startup, compared with Express.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPublishedForms } from '../scripts/published-form.mjs';
import { interleaved } from './samples.mjs';

const RUNS = 9;
const QUICK_RUNS = 1;
const packages = [
  'microversion',
  'microversion-router',
  'request-id',
  'healthcheck',
  'quota',
  'compute-engine',
  'compute-router',
  'test-cloud',
];

/**
 * Returns the milliseconds of an import in a new process: only the first import in a process shows the cost of a cold
 * start.
 */
function importTime(url) {
  const script = `const begun = performance.now(); await import(${JSON.stringify(url)}); console.log(performance.now() - begun); process.exit();`;
  const args = ['--input-type=module', '--eval', script];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

export async function run({ quick }) {
  const project = mkdtempSync(join(tmpdir(), 'apistrata-import-'));
  try {
    await installPublishedForms(project);
    const entry = (name) => join(project, 'node_modules', '@apistrata', name, 'dist', 'index.js');
    const urls = [import.meta.resolve('express'), ...packages.map((name) => pathToFileURL(entry(name)).href)];
    const rounds = quick ? QUICK_RUNS : RUNS;
    const [baseline, ...found] = await interleaved(rounds, ...urls.map((url) => () => importTime(url)));
    return packages.map((name, index) => ({
      what: `import of ${name}, and of Express`,
      ours: found[index],
      baseline,
      unit: 'ms',
      budget: name === 'compute-router' ? '<= 150 ms' : '',
      reason: 'finding, reading and compiling 143 files, including those of Express',
    }));
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}
