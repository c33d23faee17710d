// `npm run release`: writes versions and changelogs, commits them, publishes the packages and creates tags. Each step
// skips what already exists, so running the command again continues an interrupted release. Run the tests first: it
// does not run them.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { manifestOf, publishedFolders } from './manifests.mjs';
import { pnpmFolder } from './tools.mjs';

const ROOT = join(import.meta.dirname, '..');
// The tool `changeset` publishes packages with the first pnpm in PATH.
process.env.PATH = [await pnpmFolder(), process.env.PATH].join(delimiter);
const changeset = [process.execPath, join(ROOT, 'node_modules', '@changesets', 'cli', 'bin.js')];

function run(what, command, ...args) {
  console.log(`\n${what} ...`);
  execFileSync(command, args, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' });
}

const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (git('status', '--porcelain') !== '') {
  fail(
    'The working tree has changes that are not committed. Commit them, or stash them. If an interrupted release left them,\n' +
      '`git restore . && git clean -f packages/*/CHANGELOG.md` reverts them. Then start again.',
  );
}

const testCloudVersion = () => manifestOf('packages/test-cloud').version;

/** Sets the pytest plugin's version to that of the test cloud, because the plugin starts the test cloud. */
function writePluginVersion() {
  const file = join(ROOT, 'examples/pytest/pyproject.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^version = ".*"$/m, `version = "${testCloudVersion()}"`));
}

/** Tags the Go module. For a module in a subfolder, Go requires a tag that begins with the path of that folder. */
function tagGoModule() {
  const tag = `examples/go/v${testCloudVersion()}`;
  if (git('tag', '--list', tag) === '') git('tag', '--annotate', '--message', tag, tag);
}

run('Installing', 'npm', 'run', '-s', 'setup');

const changesets = readdirSync(join(ROOT, '.changeset')).filter((file) => /\.md$/.test(file) && file !== 'README.md');
if (changesets.length > 0) {
  run(`Versions and changelogs from ${changesets.length} changesets`, ...changeset, 'version');
  writePluginVersion();
  // The examples depend on the released versions, so the lockfile changes.
  run('Lockfile', process.execPath, 'scripts/pnpm.mjs', 'install', '--lockfile-only', '--prefer-offline');
  git('add', '--all');
  const versions = publishedFolders().map((folder) => manifestOf(folder));
  const releaseList = versions.map(({ name, version }) => `${name} ${version}`).join('\n');
  git('commit', '--quiet', '--message', `Release\n\n${releaseList}`);
}

run('Building', 'npm', 'run', '-s', 'build');
run('Publishing versions that the registry does not have', ...changeset, 'publish', '--no-git-tag');
run('Tags', ...changeset, 'tag');
tagGoModule();
console.log('\nReleased. `git push --follow-tags` publishes the tags.');
