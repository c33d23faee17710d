// What pnpm runs in a package's folder before it packs what stands in `published` there.
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writePublishedForm } from './published-form.mjs';

const folder = process.cwd();
const form = join(folder, 'published');
// Others may be packing what stands there: it is put together elsewhere, and takes its place in one move.
const made = mkdtempSync(`${form}-`);
await writePublishedForm(relative(join(import.meta.dirname, '..'), folder), made);
rmSync(form, { recursive: true, force: true });
renameSync(made, form);
