// `npm run container -- FILE`: builds the image of the test cloud, without Docker and without a base image. FILE is an
// OCI layout in a tar archive, which `docker load`, `podman load` and `skopeo copy oci-archive:FILE` read. See
// docs/test-cloud-in-ci.md.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baseLayer } from './container/base-layer.mjs';
import { readFinalStage } from './container/dockerfile.mjs';
import { ociLayout } from './container/oci-layout.mjs';
import { manifestOf } from './manifests.mjs';
import { ROOT } from './start-keys.mjs';
import { fetchNode } from './tools.mjs';

const PACKAGE = 'packages/test-cloud';
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

function fail(sentence) {
  console.error(sentence);
  process.exit(2);
}

const [target, ...others] = process.argv.slice(2);
const architecture = ARCHITECTURES[process.arch];
if (!target || others.length > 0)
  fail('container-image.mjs requires the name of the output FILE: npm run container -- test-cloud.tar');
if (process.platform !== 'linux' || !architecture)
  fail(
    `container-image.mjs builds images for the machine that it runs on: linux on x64 or arm64, not ${process.platform} on ${process.arch}.`,
  );

/** Returns the tar entries for a folder and its content, at a path in the image. */
function entriesOf(folder, path) {
  const names = readdirSync(folder).sort();
  return [
    { path, type: 'folder', mode: 0o755 },
    ...names.flatMap((name) => {
      const file = join(folder, name);
      const status = statSync(file);
      if (status.isDirectory()) return entriesOf(file, `${path}/${name}`);
      // File modes are normalized, because those of a Git checkout depend on the user's umask.
      return {
        path: `${path}/${name}`,
        type: 'file',
        mode: status.mode & 0o100 ? 0o755 : 0o644,
        content: readFileSync(file),
      };
    }),
  ];
}

const draftFolder = mkdtempSync(join(tmpdir(), 'apistrata-container-'));
try {
  const app = join(draftFolder, 'app');
  execFileSync(process.execPath, [join(ROOT, 'scripts/install-program.mjs'), 'test-cloud', app], { stdio: 'inherit' });
  const node = await fetchNode();
  const { version, description, license, homepage } = manifestOf(PACKAGE);
  const labels = { title: 'test-cloud', version, description, licenses: license, source: homepage };
  const config = {
    ...readFinalStage(join(ROOT, PACKAGE, 'Dockerfile')),
    WorkingDir: '/tmp',
    Labels: Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
    ),
  };
  config.Env = ['PATH=/usr/local/bin', ...config.Env];
  // For reproducible builds, the creation date of the image is that of the sources, not the current time.
  const created = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000).toISOString();
  const layers = [
    { name: 'Node and the libraries that it loads', entries: baseLayer(node) },
    { name: `@apistrata/test-cloud ${version}`, entries: entriesOf(app, 'app') },
  ];
  const archive = ociLayout({ layers, config, architecture, reference: `test-cloud:${version}`, created });
  writeFileSync(target, archive);
  console.log(`Done: ${target} (test-cloud:${version}, linux/${architecture}, ${Math.round(archive.length / 1e6)} MB)`);
} finally {
  rmSync(draftFolder, { recursive: true, force: true });
}
