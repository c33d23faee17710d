// How long a process takes to import each package, without what Node itself takes to start; beside Express.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RUNS = 15;
const packages = [
  'microversion',
  'request-id',
  'healthcheck',
  'quota',
  'compute-engine',
  'compute-router',
  'test-cloud',
];

/** Milliseconds, the median of several processes: a first import is what a start-up pays, and there is one in a process. */
function importTime(name) {
  const url = import.meta.resolve(name);
  const script = join(tmpdir(), `apistrata-import-${process.pid}.mjs`);
  writeFileSync(
    script,
    `const begun = performance.now(); await import(${JSON.stringify(url)}); console.log(performance.now() - begun); process.exit();`,
  );
  const times = Array.from({ length: RUNS }, () =>
    Number(execFileSync(process.execPath, [script], { encoding: 'utf8' })),
  );
  return times.sort((a, b) => a - b)[RUNS >> 1];
}

export async function run() {
  const express = importTime('express');
  return packages.map((name) => {
    const ours = importTime(`@apistrata/${name}`);
    const budget = name === 'compute-router' ? '<= 150 ms' : '';
    return {
      what: `import of ${name}, and of Express`,
      ours,
      baseline: express,
      ratio: ours / express,
      unit: 'ms',
      budget,
    };
  });
}
