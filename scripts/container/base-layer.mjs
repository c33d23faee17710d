// The image layer below the program. It contains Node, the libraries that Node loads and a user, but no shell and no
// package manager.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The `node` user, which the Dockerfile selects. The official Node images have the same user. */
const PASSWD_FILE_TEXT = 'root:x:0:0:root:/root:/sbin/nologin\nnode:x:1000:1000:node:/tmp:/sbin/nologin\n';
const GROUP_FILE_TEXT = 'root:x:0:\nnode:x:1000:\n';

/** The license files of the libraries, at their paths in Debian-based distributions. */
const LICENSE_FILES = ['libc6', 'libgcc-s1', 'libstdc++6'].map((name) => `/usr/share/doc/${name}/copyright`);

/** Returns the libraries that a program loads, including the dynamic linker. */
function librariesOf(program) {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}

const file = (path, content, mode = 0o644) => ({ path: path.slice(1), type: 'file', mode, content });

/** Returns the tar entries of all parent folders of paths, outer folders first. */
function foldersOf(paths) {
  const folders = new Set();
  for (const path of paths) for (let at = dirname(path); at !== '/'; at = dirname(at)) folders.add(at);
  return [...folders].sort().map((path) => ({ path: path.slice(1), type: 'folder', mode: 0o755 }));
}

/** Returns the layer's tar entries. */
export function baseLayer(node) {
  const copied = [
    ...librariesOf(node).map((path) => [path, 0o755]),
    ...LICENSE_FILES.filter(existsSync).map((path) => [path, 0o644]),
  ];
  const files = [
    file('/etc/passwd', Buffer.from(PASSWD_FILE_TEXT)),
    file('/etc/group', Buffer.from(GROUP_FILE_TEXT)),
    file('/usr/local/bin/node', readFileSync(node), 0o755),
    ...copied.map(([path, mode]) => file(path, readFileSync(path), mode)),
  ].sort((one, other) => (one.path < other.path ? -1 : 1));
  return [...foldersOf(files.map(({ path }) => `/${path}`)), { path: 'tmp', type: 'folder', mode: 0o1777 }, ...files];
}
