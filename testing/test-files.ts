import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Returns the tests and the modules in folders of tests, as paths from the root of the repository. */
export function testFiles(): string[] {
  const packages = ['packages', 'examples'].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => join(kind, name)),
  );
  const folders = packages.flatMap((folder) => [join(folder, 'src'), join(folder, 'test')]);
  return [...folders, 'testing']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(folder, file)),
    )
    .filter((file) => file.endsWith('.test.ts') || !file.includes('/src/'));
}
