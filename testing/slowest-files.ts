import { readFileSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { DURATIONS } from './longest-first.js';

const SHOWN = 10;
/** Where shorter files stand in a run makes no difference. */
const LONG_MS = 10_000;

interface Timed {
  readonly name: string;
  readonly ms: number;
}

/** What this run knows better than those before it. Of files that run on several databases, the longest time counts. */
function writeDurations(slowestFirst: readonly Timed[]): void {
  const seconds = new Map(Object.entries<number>(JSON.parse(readFileSync(DURATIONS, 'utf8'))));
  for (const { name, ms } of slowestFirst.toReversed())
    if (ms < LONG_MS) seconds.delete(name);
    else seconds.set(name, Math.round(ms / 1000));
  const sorted = [...seconds].sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/**
 * Lists the files that took longest, so that somebody sees when one grows out of hand. With `WRITE_DURATIONS=1` in the
 * environment it also writes down which took long, for the next runs to begin with.
 */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules.map((module) => ({ name: module.relativeModuleId, ms: module.diagnostic().duration }));
    timed.sort((a, b) => b.ms - a.ms);
    if (process.env.WRITE_DURATIONS) writeDurations(timed);
    if (timed.length < 2) return;
    console.log(`\nThe slowest of ${timed.length} files:`);
    for (const { name, ms } of timed.slice(0, SHOWN)) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${name}`);
  }
}
