// `npm run release`: versions, changelogs, one commit, packages, tags. Every step looks at what is there already, so after
// an interruption, wherever it was, the same command goes on. It is for a tree whose tests have passed: it runs none.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { manifestOf, publishedFolders } from './manifests.mjs';
import { pnpmFolder } from './tools.mjs';

const ROOT = join(import.meta.dirname, '..');
// Changesets publishes with the pnpm that is on the path.
process.env.PATH = [await pnpmFolder(), process.env.PATH].join(delimiter);
const changeset = [process.execPath, join(ROOT, 'node_modules', '@changesets', 'cli', 'bin.js')];

function run(what, command, ...args) {
  console.log(`\n${what} ...`);
  execFileSync(command, args, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' });
}

const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (git('status', '--porcelain') !== '') {
  refuse(
    'The working tree has changes that are not committed. Commit them, or put them away. Were they left by a release that\n' +
      'was interrupted, `git restore . && git clean -f packages/*/CHANGELOG.md` takes them back. Then start again.',
  );
}

run('Installing', 'npm', 'run', '-s', 'setup');

const pending = readdirSync(join(ROOT, '.changeset')).filter((file) => /\.md$/.test(file) && file !== 'README.md');
if (pending.length > 0) {
  run(`Versions and changelogs from ${pending.length} changesets`, ...changeset, 'version');
  git('add', '--all');
  const versions = publishedFolders().map((folder) => manifestOf(folder));
  const released = versions.map(({ name, version }) => `${name} ${version}`).join('\n');
  git('commit', '--quiet', '--message', `Release\n\n${released}`);
}

run('Building', 'npm', 'run', '-s', 'build');
run('Publishing what the registry does not have', ...changeset, 'publish', '--no-git-tag');
run('Tags', ...changeset, 'tag');
console.log('\nReleased. `git push --follow-tags` tells everybody.');
