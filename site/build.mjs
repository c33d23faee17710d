// Builds the site into site/dist/public. `--serve` serves it afterwards.
import { join } from 'node:path';
import { build, serve } from 'vitepress';
import { deadLinks } from './check-links.mjs';
import { buildExplorer, EXPLORER } from './explorer.mjs';
import { stage } from './stage.mjs';

const FOLDER = import.meta.dirname;

const sources = await stage();
await build(FOLDER);
await buildExplorer(sources, join(FOLDER, 'dist', 'public', EXPLORER));

const dead = deadLinks(join(FOLDER, 'dist', 'public'));
if (dead.length > 0) {
  console.error(`Dead links:\n  ${dead.join('\n  ')}`);
  process.exitCode = 1;
} else if (process.argv.includes('--serve')) await serve({ root: FOLDER });
