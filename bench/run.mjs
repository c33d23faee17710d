// Measures every figure and writes bench/RESULTS.md. Names of benches as arguments run only those.
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { table } from './table.mjs';

const folder = import.meta.dirname;
const notBenches = new Set(['run.mjs', 'table.mjs', 'test-servers.mjs', 'server-process.mjs']);
const all = readdirSync(folder)
  .filter((name) => name.endsWith('.mjs') && !notBenches.has(name) && !name.endsWith('.worker.mjs'))
  .map((name) => name.replace('.mjs', ''));
const asked = process.argv.slice(2);
const chosen = asked.length > 0 ? all.filter((name) => asked.includes(name)) : all;

const sections = [];
for (const name of chosen) {
  console.log(`# ${name}`);
  const { run } = await import(`./${name}.mjs`);
  const rows = await run();
  console.log(table(rows));
  sections.push(`## ${name}\n\n${table(rows)}\n`);
}

if (asked.length === 0) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();
  const machine = `${cpus().length} x ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const head = [
    '# Results',
    '',
    `\`npm run bench\` on ${machine}; commit ${commit}, ${new Date().toISOString().slice(0, 10)}.`,
    'Ratios are between two measurements of the same run. The load generator shares the machine with the server.',
    '',
  ];
  writeFileSync(join(folder, 'RESULTS.md'), `${head.join('\n')}\n${sections.join('\n')}`);
}
process.exit(0);
