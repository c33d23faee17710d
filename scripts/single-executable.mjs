// `npm run executable -- FILE`: writes the test cloud as one executable file, which contains both Node and the program.
// See docs/test-cloud-in-ci.md.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'postject';
import { manifestOf } from './manifests.mjs';
import { ROOT } from './start-keys.mjs';
import { fetchNode } from './tools.mjs';

/** A marker in Node's executable. postject changes the `0` after it to `1`, so that Node runs the injected program. */
const SEA_FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const [target, ...others] = process.argv.slice(2);
if (!target || others.length > 0) {
  console.error('single-executable.mjs requires the name of the output FILE: npm run executable -- test-cloud');
  process.exit(2);
}
if (process.platform !== 'linux') {
  console.error(
    `single-executable.mjs builds for the machine that it runs on, which must be linux, not ${process.platform}.`,
  );
  process.exit(2);
}

/** Returns the sorted paths of all files below a folder, relative to the folder. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
}

const draftFolder = mkdtempSync(join(tmpdir(), 'apistrata-executable-'));
try {
  const app = join(draftFolder, 'app');
  execFileSync(process.execPath, [join(ROOT, 'scripts/install-program.mjs'), 'test-cloud', app], { stdio: 'inherit' });
  const [main] = Object.values(manifestOf(app).bin);
  const paths = filesIn(app);
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(app, path)));
  const files = paths.map((path) => ({ path, size: statSync(join(app, path)).size }));
  const manifest = join(draftFolder, 'manifest.json');
  writeFileSync(manifest, JSON.stringify({ digest: hash.digest('hex').slice(0, 16), main, files }));

  const blob = join(draftFolder, 'program.blob');
  const settings = join(draftFolder, 'settings.json');
  writeFileSync(
    settings,
    JSON.stringify({
      main: join(ROOT, 'scripts/executable/run.cjs'),
      output: blob,
      disableExperimentalSEAWarning: true,
      assets: { 'manifest.json': manifest, ...Object.fromEntries(paths.map((path) => [path, join(app, path)])) },
    }),
  );
  const node = await fetchNode();
  execFileSync(node, ['--experimental-sea-config', settings], { stdio: ['ignore', 'ignore', 'inherit'] });
  const executable = join(draftFolder, 'executable');
  copyFileSync(node, executable);
  chmodSync(executable, 0o755);
  await inject(executable, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: SEA_FUSE });
  copyFileSync(executable, target);
  console.log(`Done: ${target} (${Math.round(statSync(target).size / 1e6)} MB)`);
} finally {
  rmSync(draftFolder, { recursive: true, force: true });
}
