import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestOf } from '../../scripts/manifests.mjs';
import { fetchNode } from '../../scripts/tools.mjs';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache/release-check');
const TEN_MINUTES = 600_000;

/** Runs a program. The error contains the output if the program fails, and the command if it times out. */
export function runProgram(program, args, { timeout, ...options }) {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe', timeout, ...options });
  } catch (error) {
    const command = [program.split('/').at(-1), ...args].join(' ');
    const reason = error.code === 'ETIMEDOUT' ? `took longer than ${timeout / 60_000} minutes` : 'failed';
    throw new Error(`${command} ${reason}`, { cause: `${error.stdout ?? ''}${error.stderr ?? ''}` });
  }
}

/** Returns the folder of a program from the configured registry, such as `node@24`; it is cached. */
function programs(name) {
  const folder = join(CACHE, name.replaceAll(/[^\w.-]/g, '-'));
  const bin = join(folder, 'node_modules', '.bin');
  if (!existsSync(bin)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const args = ['install', '--no-audit', '--no-fund', '--loglevel', 'error', name];
    execFileSync('npm', args, { cwd: folder, stdio: 'inherit', timeout: TEN_MINUTES });
  }
  return bin;
}

/** Returns the path of a Node of a major version: the one that runs this, or one from the registry. */
export async function nodeOf(major) {
  return process.versions.node.startsWith(`${major}.`) ? process.execPath : await fetchNode({ major });
}

/** Returns the path of yarn. */
export function yarn() {
  return join(programs('@yarnpkg/cli-dist@4'), 'yarn');
}

/** Returns the compiler of a major version: one that this repository uses, or another one. */
export function compiler(major) {
  const { devDependencies } = manifestOf();
  const own = ['typescript', 'typescript7'].find((name) =>
    devDependencies[name].replace('npm:typescript@', '').startsWith(`${major}.`),
  );
  return own ? join(ROOT, 'node_modules', own, 'bin/tsc') : join(programs(`typescript@${major}`), 'tsc');
}
