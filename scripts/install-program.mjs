// `node scripts/install-program.mjs server FOLDER`: installs a program from this checkout, as `npm install @apistrata/server` does, with
// only what it needs to run. The program does not write to the folder. See docs/operating.md.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { manifestOf } from './manifests.mjs';
import { ROOT, SERVER } from './start-keys.mjs';
import { fetchPnpm, isCurrentNode, NEEDED_NODE } from './tools.mjs';

const PROGRAMS = { server: SERVER, 'test-cloud': 'packages/test-cloud' };

function fail(sentence, exitCode) {
  console.error(sentence);
  process.exit(exitCode);
}

const [program, folder] = process.argv.slice(2);
const source = Object.hasOwn(PROGRAMS, program ?? '') ? PROGRAMS[program] : undefined;
if (!source || !folder || (existsSync(folder) && readdirSync(folder).length > 0))
  fail(
    `install-program.mjs needs a program (${Object.keys(PROGRAMS).join(', ')}) and a FOLDER that is empty or does not exist: ` +
      'node scripts/install-program.mjs server /opt/apistrata',
    2,
  );
if (!isCurrentNode())
  fail(`install-program.mjs needs Node ${NEEDED_NODE.join('.')} or newer; this is ${process.versions.node}.`, 2);
const target = resolve(folder);
const { name, bin } = manifestOf(source);

if (!existsSync(join(ROOT, 'node_modules', 'rolldown'))) {
  console.log('Installing ...');
  const chosen = ['--filter-prod', '.', '--filter-prod', `${name}...`];
  const args = ['install', '--frozen-lockfile', '--prod', ...chosen, '--prefer-offline', '--ignore-scripts'];
  const { status, error } = spawnSync(process.execPath, [await fetchPnpm(), ...args], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0)
    fail(`The installation failed${error ? ` (${error.message})` : ''}. The output above contains the cause.`, 1);
}
console.log('Bundling ...');
const { installedFolderOf, writePublishedForm } = await import('./published-form.mjs');
await writePublishedForm(source, target, { types: false });
for (const dependency of Object.keys(manifestOf(target).dependencies))
  cpSync(installedFolderOf(join(ROOT, source), dependency), join(target, 'node_modules', dependency), {
    recursive: true,
  });
const [main] = Object.values(bin).map((file) => join(target, file));
chmodSync(main, 0o755);
console.log(`Done: ${main} --help`);
