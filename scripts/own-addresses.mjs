// In published packages, resolves the file URLs of a module relative to the package instead of to the chunk that
// contains the module.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const OWN_URL = /new URL\([^()]+, import\.meta\.url\)/g;

/** Returns the package that contains a module, and the path in the package at which the compiler writes the module. */
function pathInBuild(id) {
  const [, folder, module] = /^(.*)[\\/](?:src|dist)[\\/](.*)\.[jt]s$/.exec(id) ?? [];
  const manifest = folder && join(folder, 'package.json');
  if (!manifest || !existsSync(manifest)) return;
  const { name } = JSON.parse(readFileSync(manifest, 'utf8'));
  return { name, path: `dist/${module.replaceAll('\\', '/')}.js` };
}

/** Returns a plugin that resolves the relative file URLs in a module as if the module were not bundled. */
export function ownAddresses() {
  return {
    name: 'own-addresses',
    transform: {
      filter: { code: OWN_URL },
      handler(code, id) {
        const location = pathInBuild(id);
        if (!location) return;
        const address = `new URL('./${location.path}', import.meta.resolve('${location.name}/package.json')).href`;
        return { code: code.replaceAll(OWN_URL, (text) => text.replace('import.meta.url', address)), map: null };
      },
    },
  };
}
