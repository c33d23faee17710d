// `npm test`: installs, builds, checks, and runs the tests that contributors should run for every change.
// `npm run test:all` runs all tests. Both accept arguments:
//   npm test -- packages/quota         runs only these tests; Vitest's own arguments are passed on (`-t 'is exact'`)
//   npm test -- --changed [COMMIT]     runs the tests that changes since a commit (default: `main`) can affect
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fetchNode, isCurrentNode, runWithNode } from './tools.mjs';

const ROOT = join(import.meta.dirname, '..');

/** Vitest arguments that exclude the projects that only `npm run test:all` runs. */
const EXCLUDE_LONG_TESTS = ['--project', '!*long*'];

const installing = ['Installing', 'setup'];
const building = ['Building', 'build'];
const checksOfSources = [
  ['Linting', 'lint'],
  ['Checking words', 'prose'],
  ['Checking imports', 'imports'],
  ['Finding unused code', 'knip'],
];
const checksOfBuild = [
  ['Checking types of tests', 'check:tests'],
  ['Checking packages', 'packages:check'],
];
/** The stages before tests. The steps of a stage run concurrently. */
const preparation = [[installing], [building]];
const checks = [[installing], [building, ...checksOfSources], checksOfBuild];

const isCommit = (name) =>
  spawnSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: ROOT }).status === 0;

/** Returns the arguments with the default commit inserted after `--changed`, if a commit is missing there. */
function withCommit(args) {
  const at = args.indexOf('--changed');
  if (at < 0 || isCommit(args[at + 1] ?? '')) return args;
  return args.toSpliced(at + 1, 0, isCommit('main') ? 'main' : 'origin/main');
}

function stagesFor([first, ...rest]) {
  const all = first === '--all';
  const vitestArgs = withCommit(all || first === undefined ? rest : [first, ...rest]);
  const suite = all ? [] : EXCLUDE_LONG_TESTS;
  if (vitestArgs.length === 0) return [...checks, [['Tests', 'vitest', '--', ...suite]]];
  if (!vitestArgs.some((arg) => arg.startsWith('--changed')))
    return [...preparation, [['Tests', 'vitest', '--', ...vitestArgs]]];
  return [
    ...checks,
    [['Tests of the repository', 'vitest', '--', 'testing/', '--project', 'sqlite-apart']],
    [['Tests that the changes can affect', 'vitest', '--', ...suite, '--passWithNoTests', ...vitestArgs]],
  ];
}

if (isCurrentNode()) await runStages(stagesFor(process.argv.slice(2)));
else {
  const node = await fetchNode();
  console.log(`Node ${process.versions.node} is too old for the tests; running them with ${node} instead.`);
  await runWithNode(node, process.argv.slice(1));
}

/** Runs the stages one after the other, until a step fails. */
async function runStages(stages) {
  const count = stages.flat().length;
  const durations = [];
  const startedAt = Date.now();
  let started = 0;
  for (const stage of stages) {
    const isAlone = stage.length === 1;
    const waiting = [...stage];
    const runWaiting = async () => {
      for (let step = waiting.shift(); step; step = waiting.shift()) {
        started += 1;
        console.log(`\n[${started}/${count}] ${step[0]} ...`);
        const { failed, seconds } = await runStep(step, isAlone);
        durations.push(`${step[0]} ${seconds} s`);
        if (failed) waiting.length = 0;
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
    if (process.exitCode) break;
  }
  console.log(`\n${durations.join(' · ')} · total ${secondsSince(startedAt)} s`);
}

function secondsSince(moment) {
  return ((Date.now() - moment) / 1000).toFixed(0);
}

/** Runs one step. The output of concurrent steps is printed when they end. */
async function runStep([what, ...script], isAlone) {
  const startedAt = Date.now();
  const child = spawn('npm', ['run', '-s', ...script], {
    cwd: ROOT,
    stdio: ['inherit', isAlone ? 'inherit' : 'pipe', isAlone ? 'inherit' : 'pipe'],
    shell: process.platform === 'win32',
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => output.push(part));
  const [code] = await once(child, 'close');
  const seconds = secondsSince(startedAt);
  if (!isAlone) console.log(`\n${what}: ${seconds} s\n${Buffer.concat(output)}`.trimEnd());
  const failed = code !== 0;
  if (failed) {
    console.error(`\n${what}: failed. \`npm run ${script[0]}\` runs only this step.`);
    process.exitCode = 1;
  }
  return { failed, seconds };
}
