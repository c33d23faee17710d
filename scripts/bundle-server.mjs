// Bundles the reference server, of what `transpile.mjs` or the compiler has made.
import { join } from 'node:path';
import { bundleProgram } from './bundle-program.mjs';
import { ROOT, SERVER } from './start-keys.mjs';

const DIST = join(ROOT, SERVER, 'dist');

await bundleProgram(join(DIST, 'main.js'), join(DIST, 'bundle'));
