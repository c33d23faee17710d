// `npm test`: installs, builds, checks, and runs the tests that contributors should run for every change.
// `npm run test:all` runs all tests. Both accept arguments:
//   npm test -- packages/quota         runs only these tests; Vitest's own arguments are passed on (`-t 'is exact'`)
//   npm test -- --changed [COMMIT]     runs the tests that changes since a commit (default: `main`) can affect
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { continueWith, fetchNode, isCurrentNode } from './tools.mjs';

const ROOT = join(import.meta.dirname, '..');

/** Vitest arguments that exclude the projects that only `npm run test:all` runs. */
const EXCLUDE_LONG_TESTS = ['--project', '!long*'];

const preparation = [
  ['Installing', 'setup'],
  ['Building', 'build'],
];
const checks = [
  ['Linting', 'lint'],
  ['Checking words', 'prose'],
  ['Checking types of tests', 'check:tests'],
  ['Checking imports', 'imports'],
  ['Finding unused code', 'knip'],
  ['Checking packages', 'packages:check'],
];

const isCommit = (name) =>
  spawnSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: ROOT }).status === 0;

/** Returns the arguments with the default commit inserted after `--changed`, if a commit is missing there. */
function withCommit(args) {
  const at = args.indexOf('--changed');
  if (at < 0 || isCommit(args[at + 1] ?? '')) return args;
  return args.toSpliced(at + 1, 0, isCommit('main') ? 'main' : 'origin/main');
}

function stepsFor([first, ...rest]) {
  const all = first === '--all';
  const vitestArgs = withCommit(all || first === undefined ? rest : [first, ...rest]);
  const suite = all ? [] : EXCLUDE_LONG_TESTS;
  if (vitestArgs.length === 0) return [...preparation, ...checks, ['Tests', 'vitest', '--', ...suite]];
  if (!vitestArgs.some((arg) => arg.startsWith('--changed')))
    return [...preparation, ['Tests', 'vitest', '--', ...vitestArgs]];
  return [
    ...preparation,
    ...checks,
    ['Tests of the repository', 'vitest', '--', 'testing/', '--project', 'sqlite-apart'],
    ['Tests that the changes can affect', 'vitest', '--', ...suite, '--passWithNoTests', ...vitestArgs],
  ];
}

if (isCurrentNode()) runSteps();
else {
  const node = await fetchNode();
  console.log(`Node ${process.versions.node} is too old for the tests; running them with ${node} instead.`);
  await continueWith(node, process.argv.slice(1));
}

function runSteps() {
  const steps = stepsFor(process.argv.slice(2));
  const durations = [];
  for (const [index, [what, ...script]] of steps.entries()) {
    console.log(`\n[${index + 1}/${steps.length}] ${what} ...`);
    const startedAt = Date.now();
    const options = { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' };
    const { status } = spawnSync('npm', ['run', '-s', ...script], options);
    durations.push(`${what} ${((Date.now() - startedAt) / 1000).toFixed(0)} s`);
    if (status !== 0) {
      console.error(`\n${what}: failed. \`npm run ${script[0]}\` runs only this step.`);
      process.exitCode = 1;
      break;
    }
  }
  console.log(`\n${durations.join(' · ')}`);
}
