// For bundles: what a module of ours looks for beside itself it finds there still.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The package of a module of ours, and where the compiler puts the module there; undefined for those of others, and of programs,
 * which nobody finds by their name: they stay where their bundle is.
 */
function builtPlace(id) {
  const [, folder, module] = /^(.*)[\\/](?:src|dist)[\\/](.*)\.[jt]s$/.exec(id) ?? [];
  const manifest = folder && join(folder, 'package.json');
  if (!manifest || !existsSync(manifest)) return;
  const { name, exports } = JSON.parse(readFileSync(manifest, 'utf8'));
  return exports && name?.startsWith('@apistrata/')
    ? { name, path: `dist/${module.replaceAll('\\', '/')}.js` }
    : undefined;
}

/**
 * A plugin that gives modules the address that they have outside of bundles.
 * @param pattern what is replaced in their texts: an expression with `import.meta.url` in it
 */
export function ownAddresses(pattern) {
  return {
    name: 'own-addresses',
    transform: {
      filter: { code: pattern },
      handler(code, id) {
        const place = builtPlace(id);
        if (!place) return;
        const address = `new URL('./${place.path}', import.meta.resolve('${place.name}/package.json')).href`;
        const own = code.replaceAll(new RegExp(pattern, 'g'), (text) => text.replace('import.meta.url', address));
        return { code: own, map: null };
      },
    },
  };
}
