// `npm test`: installs, builds, checks and tests everything. `npm test -- packages/quota`: installs, builds, and runs those
// tests only; what Vitest takes may stand there (`npm test -- packages/quota -t 'is exact'`).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { continueWith, fetchNode, isCurrentNode } from './tools.mjs';

const ROOT = join(import.meta.dirname, '..');
const chosen = process.argv.slice(2);

const before = [
  ['Installing', 'setup'],
  ['Building', 'build'],
];
const checks = [
  ['Linting', 'lint'],
  ['Checking words', 'prose'],
  ['Checking types of tests', 'check:tests'],
  ['Finding unused code', 'knip'],
  ['Checking packages', 'packages:check'],
];
const steps = [...before, ...(chosen.length === 0 ? checks : []), ['Tests', 'vitest', '--', ...chosen]];

if (isCurrentNode()) runSteps();
else {
  const node = await fetchNode();
  console.log(`Node ${process.versions.node} is too old for the tests: they run with ${node}.`);
  await continueWith(node, process.argv.slice(1));
}

function runSteps() {
  const took = [];
  for (const [index, [what, ...script]] of steps.entries()) {
    console.log(`\n[${index + 1}/${steps.length}] ${what} ...`);
    const began = Date.now();
    const options = { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' };
    const { status } = spawnSync('npm', ['run', '-s', ...script], options);
    took.push(`${what} ${((Date.now() - began) / 1000).toFixed(0)} s`);
    if (status !== 0) {
      console.error(`\n${what}: failed. \`npm run ${script[0]}\` does this step alone.`);
      process.exitCode = 1;
      break;
    }
  }
  console.log(`\n${took.join(' · ')}`);
}
