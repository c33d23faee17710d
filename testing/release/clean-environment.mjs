import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const COMPILERS = ['cc', 'gcc', 'g++', 'make', 'python3', 'node-gyp'];

function writeProgram(path, ...lines) {
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
}

/** The path of a program on this machine. */
function programOf(name) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (!found) throw new Error(`${name} is not on the path`);
  return found;
}

/**
 * Creates an environment in which nothing is prepared: an empty home, npm of this machine run by a given Node, only
 * programs of the system, and compilers that fail.
 * @param folder where its files are created
 * @param node path of the Node
 * @returns `env`: the variables HOME and PATH, and the shell for npm and pnpm scripts; `scripts()` and `compilers()`: the install
 *   scripts and the compilers that were called so far
 */
export function cleanEnvironment(folder, node) {
  const place = (part) => join(folder, part);
  for (const part of ['home', 'bin']) mkdirSync(place(part), { recursive: true });
  const [scripts, compilers] = [place('scripts'), place('compilers')];
  for (const compiler of COMPILERS)
    writeProgram(join(place('bin'), compiler), `echo "${compiler} $*" >> '${compilers}'`, 'exit 1');
  writeProgram(place('shell'), `echo "$*" >> '${scripts}'`, 'exec /bin/sh "$@"');
  symlinkSync(node, join(place('bin'), 'node'));
  for (const program of ['npm', 'npx']) symlinkSync(programOf(program), join(place('bin'), program));
  const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
  return {
    env: {
      PATH: [place('bin'), '/usr/bin', '/bin'].join(delimiter),
      HOME: place('home'),
      npm_config_script_shell: place('shell'),
      pnpm_config_script_shell: place('shell'),
    },
    scripts: () => read(scripts),
    compilers: () => read(compilers),
  };
}
