// Measures every figure and writes bench/RESULTS.md. Names of benches as arguments run only those.
// --compare FILE says what has become slower than in a former RESULTS.md by more than the spread, and ends with 1 then.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { slower } from './slower.mjs';
import { table } from './table.mjs';

const folder = import.meta.dirname;
const notBenches = new Set([
  'process-time.mjs',
  'run.mjs',
  'table.mjs',
  'test-servers.mjs',
  'server-process.mjs',
  'slower.mjs',
]);
const all = readdirSync(folder)
  .filter((name) => name.endsWith('.mjs') && !notBenches.has(name) && !name.endsWith('.worker.mjs'))
  .map((name) => name.replace('.mjs', ''));
const { values, positionals: asked } = parseArgs({ options: { compare: { type: 'string' } }, allowPositionals: true });
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`there is no bench ${unknown.join(', ')}: there are ${all.join(', ')}`);
  process.exit(2);
}
// Read before anything is measured: it may be the file that is written.
const former = values.compare && readFileSync(resolve(values.compare), 'utf8');
const chosen = asked.length > 0 ? all.filter((name) => asked.includes(name)) : all;

const file = join(folder, 'RESULTS.md');

/** The sections that stand in the file already, by name. */
function standing() {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((part) => [part.split('\n', 1)[0], `## ${part.trimEnd()}\n`]),
  );
}

for (const name of chosen) {
  console.log(`# ${name}`);
  const [load] = loadavg();
  const begun = performance.now();
  const { run } = await import(`./${name}.mjs`);
  const rows = await run();
  console.log(table(rows));
  const seconds = Math.round((performance.now() - begun) / 1000);
  const sections = standing();
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();
  sections.set(
    name,
    `## ${name}\n\nCommit ${commit}; ${seconds} s; load of the machine before: ${load.toFixed(1)}.\n\n${table(rows)}\n`,
  );
  const machine = `${cpus().length} x ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const head = [
    '# Results',
    '',
    `\`npm run bench\` on ${machine}, ${new Date().toISOString().slice(0, 10)}. Ratios are between two measurements of the`,
    'same run. The load generator, and PostgreSQL and Redis where they take part, share the machine with the server.',
    '',
  ];
  const sorted = [...sections].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  writeFileSync(file, `${head.join('\n')}\n${sorted.join('\n')}`);
}

if (former) {
  const worse = slower(former, readFileSync(file, 'utf8'));
  console.log(worse.length > 0 ? `# slower than before\n${worse.join('\n')}` : '# nothing is slower than before');
  process.exit(worse.length > 0 ? 1 : 0);
}
process.exit(0);
