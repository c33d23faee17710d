// Bundles the reference server from its sources, and those of the packages that it is made of.
import { join } from 'node:path';
import { bundleProgram } from './bundle-program.mjs';
import { ROOT, SERVER } from './start-keys.mjs';

await bundleProgram(join(ROOT, SERVER, 'src', 'main.ts'), join(ROOT, SERVER, 'dist', 'bundle'));
