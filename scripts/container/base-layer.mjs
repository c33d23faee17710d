// The layer below the program: Node with the libraries that it loads, and a user. There is no shell and no package manager.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The user of Node's own images, which the Dockerfile names. */
const PASSWD = 'root:x:0:0:root:/root:/sbin/nologin\nnode:x:1000:1000:node:/tmp:/sbin/nologin\n';
const GROUP = 'root:x:0:\nnode:x:1000:\n';

/** The licenses of the libraries, at their paths in Debian-based distributions. */
const LICENSES = ['libc6', 'libgcc-s1', 'libstdc++6'].map((name) => `/usr/share/doc/${name}/copyright`);

/** The files that the dynamic linker loads for a program, itself included. */
function librariesOf(program) {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}

const file = (path, content, mode = 0o644) => ({ path: path.slice(1), type: 'file', mode, content });

/** Returns the parent folders of entries, outer ones first. */
function foldersOf(paths) {
  const folders = new Set();
  for (const path of paths) for (let at = dirname(path); at !== '/'; at = dirname(at)) folders.add(at);
  return [...folders].sort().map((path) => ({ path: path.slice(1), type: 'folder', mode: 0o755 }));
}

/** Returns the entries of the layer. */
export function baseLayer(node) {
  const copied = [
    ...librariesOf(node).map((path) => [path, 0o755]),
    ...LICENSES.filter(existsSync).map((path) => [path, 0o644]),
  ];
  const files = [
    file('/etc/passwd', Buffer.from(PASSWD)),
    file('/etc/group', Buffer.from(GROUP)),
    file('/usr/local/bin/node', readFileSync(node), 0o755),
    ...copied.map(([path, mode]) => file(path, readFileSync(path), mode)),
  ].sort((one, other) => (one.path < other.path ? -1 : 1));
  return [...foldersOf(files.map(({ path }) => `/${path}`)), { path: 'tmp', type: 'folder', mode: 0o1777 }, ...files];
}
