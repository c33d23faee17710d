// The main script of the single executable. It writes the program's files into a private folder and runs the program
// from there, because a single executable can load only one embedded script.
const { lstatSync, mkdirSync, renameSync, statSync, writeFileSync } = require('node:fs');
const { runMain } = require('node:module');
const { tmpdir } = require('node:os');
const { dirname, join } = require('node:path');
const { getAsset } = require('node:sea');

const { digest, main, files } = JSON.parse(getAsset('manifest.json', 'utf8'));

/** Creates a folder that only this user can access. Throws if another user has created a folder with this name. */
function privateFolder() {
  const uid = process.getuid();
  const folder = join(tmpdir(), `apistrata-test-cloud-${uid}-${digest}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const status = lstatSync(folder);
  if (!status.isDirectory() || status.uid !== uid || (status.mode & 0o077) !== 0)
    throw new Error(
      `${folder} belongs to another user, or others can write to it: remove it, or set TMPDIR to another folder`,
    );
  return folder;
}

/** Writes a file, unless an earlier start has written it. */
function write(folder, { path, size }) {
  const file = join(folder, path);
  if (statSync(file, { throwIfNoEntry: false })?.size === size) return;
  mkdirSync(dirname(file), { recursive: true });
  // Another process may read the file at the same time, so a rename makes it appear only when it is complete.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, Buffer.from(getAsset(path)));
  renameSync(draft, file);
}

const folder = privateFolder();
for (const file of files) write(folder, file);
process.argv[1] = join(folder, main);
runMain();
