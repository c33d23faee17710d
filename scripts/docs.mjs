// `npm run docs`: installs missing packages, and builds the site into site/dist/public. With `--serve`, serves it
// afterwards.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fetchNode, isCurrentNode, runWithNode } from './tools.mjs';

const ROOT = join(import.meta.dirname, '..');

if (!isCurrentNode()) await runWithNode(await fetchNode(), process.argv.slice(1));
else if (isInstalled() || install()) await import('../site/build.mjs');

function isInstalled() {
  return existsSync(join(ROOT, 'site', 'node_modules', 'vitepress')) && existsSync(join(ROOT, 'node_modules', 'zod'));
}

function install() {
  const options = { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' };
  const { status } = spawnSync('npm', ['run', '-s', 'setup'], options);
  if (status !== 0) process.exitCode = 1;
  return status === 0;
}
