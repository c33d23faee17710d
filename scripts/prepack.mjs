// pnpm runs this script in a package's folder before it packs the folder `published`.
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writePublishedForm } from './published-form.mjs';

const folder = process.cwd();
const publishedDir = join(folder, 'published');
// Another process may be packing the folder `published`, so the new folder is created elsewhere and then renamed.
const stagingDir = mkdtempSync(`${publishedDir}-`);
await writePublishedForm(relative(join(import.meta.dirname, '..'), folder), stagingDir);
rmSync(publishedDir, { recursive: true, force: true });
renameSync(stagingDir, publishedDir);
