import { it } from 'vitest';
import { DirectoryBackend } from '../src/volumes/directory-backend.js';
import { missingForVolumes, testVolumeBackend } from './volume-backend-suite.js';

const missing = missingForVolumes();
if (missing) {
  console.warn(`\n*** SKIPPED: backends for volumes: this machine has no ${missing} ***\n`);
  it.skip(`backends for volumes: this machine has no ${missing}`, () => {});
} else {
  testVolumeBackend({
    name: 'a directory',
    open: async (folder) => new DirectoryBackend(folder, { qemuImg: 'qemu-img', run: { runAs: undefined } }),
  });
}
