// `npm run pnpm -- ARGUMENTS`: runs the pnpm version that this repository uses, and fetches it the first time.
import { spawnSync } from 'node:child_process';
import { fetchPnpm } from './tools.mjs';

// Standard output is reserved for pnpm, because other programs read it.
const pnpm = await fetchPnpm({ onFetch: (spec) => console.error(`Fetching ${spec} from the npm registry ...`) });
process.exitCode = spawnSync(process.execPath, [pnpm, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1;
