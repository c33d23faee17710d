import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Lists the files that took longest, so that somebody sees when one grows out of hand. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules.map((module) => ({ name: module.relativeModuleId, ms: module.diagnostic().duration }));
    timed.sort((a, b) => b.ms - a.ms);
    if (timed.length < 2) return;
    console.log(`\nThe slowest of ${timed.length} files:`);
    for (const { name, ms } of timed.slice(0, SHOWN)) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${name}`);
  }
}
