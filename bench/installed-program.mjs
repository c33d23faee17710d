import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { manifestOf } from '../scripts/manifests.mjs';

/** Installs a published program (`server`, `test-cloud`) into a folder. Returns the path of its main module. */
export function installProgram(name, folder) {
  const script = join(import.meta.dirname, '../scripts/install-program.mjs');
  execFileSync(process.execPath, [script, name, folder], { stdio: 'pipe' });
  const [main] = Object.values(manifestOf(folder).bin);
  return join(folder, main);
}
