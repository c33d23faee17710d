import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/release-check');
const TEN_MINUTES = 600_000;

/** The folder of a program from the configured registry, such as `node@24`; kept for the next time. */
function programs(name) {
  const folder = join(CACHE, name.replace('@', '-'));
  const bin = join(folder, 'node_modules', '.bin');
  if (!existsSync(bin)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const args = ['install', '--no-audit', '--no-fund', '--loglevel', 'error', name];
    execFileSync('npm', args, { cwd: folder, stdio: 'inherit', timeout: TEN_MINUTES });
  }
  return bin;
}

/** The folder with a Node of a major number: the one that runs this, or npm's `node` package. */
export function nodeFolder(major) {
  return process.versions.node.startsWith(`${major}.`) ? dirname(process.execPath) : programs(`node@${major}`);
}

/** Where the headers of this Node are, when they came with it: native code is compiled against them. */
export function headers() {
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include/node/node.h')) ? { npm_config_nodedir: prefix } : {};
}

/** The compiler of a major number. */
export const compiler = (major) => join(programs(`typescript@${major}`), 'tsc');

/** pnpm, at the version that this repository uses. */
export const pnpm = (version) => join(programs(`pnpm@${version}`), 'pnpm');
