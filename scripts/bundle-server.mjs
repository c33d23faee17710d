// Bundles the reference server from its own sources and its packages' sources.
import { join } from 'node:path';
import { bundleProgram } from './bundle-program.mjs';
import { ROOT, SERVER } from './start-keys.mjs';

await bundleProgram({ main: join(ROOT, SERVER, 'src', 'main.ts') }, join(ROOT, SERVER, 'dist', 'bundle'));
