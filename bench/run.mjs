// Runs the benchmarks and writes bench/RESULTS.md; `--help` lists the options.
import { execFileSync, fork } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFigures } from './figures.mjs';
import { missedBudgets, missesOf } from './missed-budgets.mjs';
import { sectionsOf } from './results.mjs';
import { slower } from './slower.mjs';
import { table } from './table.mjs';

const folder = import.meta.dirname;
/** A section exports `run({ quick })`, which returns rows; see `table.mjs`. */
const sections = readdirSync(folder)
  .filter(
    (name) => name.endsWith('.mjs') && /^export async function run\b/m.test(readFileSync(join(folder, name), 'utf8')),
  )
  .map((name) => name.replace('.mjs', ''));

const HELP = `npm run bench -- [SECTION...] [options]

Measures the named sections, or all: ${sections.join(', ')}

  --quick         uses small numbers, to check that everything works; prints the results, and writes them only to --output
  --output FILE   output file, in which the results of sections that are not run remain unchanged. Default: bench/RESULTS.md
  --compare FILE  lists figures that are worse than those in FILE by more than the spread; exits with 1 if there are any
  --figures       measures nothing; writes the figures of bench/RESULTS.md into the documents, as every run does at its end
  --help          prints this help`;

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  output: { type: 'string' },
  compare: { type: 'string' },
  figures: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};

const { BENCH_MILLION, BENCH_SECONDS, BENCH_SOAK = 0 } = process.env;
/**
 * Time limit of one section. The long form of `scale` creates millions of servers first. `mixed` may be given longer
 * loads, of three rates on three clouds, with shorter loads before and after them; its soak runs on each cloud.
 */
const LIMIT_MINUTES =
  (BENCH_MILLION ? 60 : 8) + (BENCH_SECONDS ? 20 + (9 * Number(BENCH_SECONDS)) / 60 : 0) + 3 * Number(BENCH_SOAK);

function reject(message) {
  console.error(message);
  process.exit(2);
}

function options() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return reject(`${error.message}\n\n${HELP}`);
  }
}

function textOf(file) {
  if (!existsSync(file)) reject(`file ${file} does not exist`);
  return readFileSync(file, 'utf8');
}

const { values, positionals } = options();
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const RESULTS = join(folder, 'RESULTS.md');
if (values.figures) {
  writeFigures(readFileSync(RESULTS, 'utf8'));
  process.exit(0);
}
const unknown = positionals.filter((name) => !sections.includes(name));
if (unknown.length > 0) reject(`unknown section ${unknown.join(', ')}: use ${sections.join(', ')}`);
// The file is read before anything is measured, because it may also be the file to which the results are written.
const former = values.compare && textOf(resolve(values.compare));
const output = values.output ? resolve(values.output) : values.quick ? undefined : RESULTS;

/**
 * Returns the rows of a section that runs in a separate process, so that sections do not affect each other. The process
 * leads a process group, so that the servers that it has started can be ended with it.
 */
function measure(name) {
  return new Promise((resolve, reject) => {
    const child = fork(join(folder, 'section-process.mjs'), [name, values.quick ? 'quick' : 'full'], {
      detached: true,
      execArgv: ['--expose-gc'],
    });
    const endGroup = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The process group has already ended.
      }
    };
    const interrupted = () => {
      endGroup();
      process.exit(130);
    };
    let rows;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      endGroup();
    }, LIMIT_MINUTES * 60_000);
    process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
    child.once('message', (message) => {
      rows = message;
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
      endGroup();
      if (rows) resolve(rows);
      else reject(new Error(late ? `${name} took longer than ${LIMIT_MINUTES} minutes` : `${name} ended with ${code}`));
    });
  });
}

function head() {
  const machine = `${cpus().length} x ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  return `# Results

\`npm run bench\` on ${machine}. The tables contain medians, with the
minimum and maximum of the samples in brackets. A ratio compares two figures that were measured alternately in the same run. The
load generator, and PostgreSQL and Redis if they are used, share the machine with the server. The load of the machine is its
one-minute load average; 1 means one busy processor.
`;
}

function write(newSections) {
  const earlier = output && existsSync(output) ? sectionsOf(readFileSync(output, 'utf8')) : [];
  const found = new Map([...earlier, ...newSections]);
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, section]) => section);
  const text = sorted.join('\n');
  const document = `${head()}\nMedians that miss their budgets:\n\n${missedBudgets(text)}\n\n${text}`;
  if (output) writeFileSync(output, document);
  return document;
}

const load = () => loadavg()[0].toFixed(1);
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();
const date = new Date().toISOString().slice(0, 10);
const measured = new Map();
const failed = [];
const begun = performance.now();
for (const name of positionals.length > 0 ? sections.filter((each) => positionals.includes(each)) : sections) {
  console.log(`# ${name}`);
  const before = load();
  const start = performance.now();
  try {
    const rows = await measure(name);
    const seconds = Math.round((performance.now() - start) / 1000);
    const about = `Commit ${commit}, ${date}${values.quick ? ', quick' : ''}; ${seconds} s; load of the machine ${before} before, ${load()} after.`;
    console.log(`${about}\n${table(rows)}`);
    measured.set(name, `## ${name}\n\n${about}\n\n${table(rows)}\n`);
    // Written after each section, so that results remain if the next one fails.
    write(measured);
  } catch (error) {
    console.error(error.message);
    failed.push(name);
  }
}
console.log(`# ${measured.size} sections in ${Math.round((performance.now() - begun) / 1000)} s`);

if (output === RESULTS && measured.size > 0) writeFigures(readFileSync(RESULTS, 'utf8'));
const unexplained = missesOf([...measured.values()].join('\n')).filter(([, { reason }]) => !reason);
if (!values.quick && unexplained.length > 0)
  console.error(`# missed without a reason: ${unexplained.map(([subject]) => subject).join('; ')}`);
let worse = [];
if (former) {
  worse = slower(former, [...measured.values()].join('\n'));
  console.log(worse.length > 0 ? `# slower than before\n${worse.join('\n')}` : '# nothing is slower than before');
}
if (failed.length > 0) console.error(`# failed: ${failed.join(', ')}`);
process.exit(failed.length + worse.length > 0 ? 1 : 0);
