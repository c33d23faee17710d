// Bundles the command of the test cloud, of what the compiler has made: `npm run build` and packing do.
import { join } from 'node:path';
import { bundleProgram } from './bundle-program.mjs';

const DIST = join(import.meta.dirname, '..', 'packages', 'test-cloud', 'dist');

await bundleProgram(join(DIST, 'cli', 'main.js'), join(DIST, 'command'));
