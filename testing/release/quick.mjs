// One row of `npm run release:check`, for `npm test`: packs one built package, publishes it to a local registry, and
// installs and uses it as a user with this Node does.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../scripts/manifests.mjs';
import { tryOut } from './projects.mjs';
import { publishPacked } from './publish.mjs';
import { startRegistry } from './registry.mjs';

const ROOT = join(import.meta.dirname, '../..');
const NAME = 'request-id';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-release-'));
const registry = await startRegistry(join(folder, 'registry'));
try {
  const source = join(ROOT, 'packages', NAME);
  const manifest = manifestOf(join('packages', NAME));
  publishPacked([NAME], folder, registry.env);
  const readme = readFileSync(join(source, 'README.md'), 'utf8');
  const [node] = process.versions.node.split('.').map(Number);
  const typescript = Number.parseInt(manifestOf().devDependencies.typescript, 10);
  const row = { name: NAME, node, express: '5', manager: 'npm', typescript, modules: 'cjs', sqlite: 'none' };
  const place = { folder: join(folder, 'project'), env: registry.env, version: manifest.version, readme, manifest };
  await tryOut(row, place);
  console.log(`ok ${Object.values(row).join(', ')}`);
} catch (error) {
  console.error(error.stack, error.cause ?? '');
  process.exitCode = 1;
} finally {
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
}
