// How long a process takes to import each package, without what Node itself takes to start; beside Express.
import { execFileSync } from 'node:child_process';
import { inTurns } from './samples.mjs';

const RUNS = 9;
const QUICK_RUNS = 1;
const packages = [
  'microversion',
  'request-id',
  'healthcheck',
  'quota',
  'compute-engine',
  'compute-router',
  'test-cloud',
];

/** Milliseconds. A first import is what a start-up pays, and there is one in a process. */
function importTime(name) {
  const url = import.meta.resolve(name);
  const script = `const begun = performance.now(); await import(${JSON.stringify(url)}); console.log(performance.now() - begun); process.exit();`;
  const args = ['--input-type=module', '--eval', script];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

export async function run({ quick }) {
  const names = ['express', ...packages.map((name) => `@apistrata/${name}`)];
  const rounds = quick ? QUICK_RUNS : RUNS;
  const [baseline, ...found] = await inTurns(rounds, ...names.map((name) => () => importTime(name)));
  return packages.map((name, index) => ({
    what: `import of ${name}, and of Express`,
    ours: found[index],
    baseline,
    unit: 'ms',
    budget: name === 'compute-router' ? '<= 150 ms' : '',
  }));
}
