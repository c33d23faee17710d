import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds that files of a whole run took that took long, by their paths from the root; `slowest-files.ts` writes it. */
export const DURATIONS = join(import.meta.dirname, 'durations.json');

const ROOT = join(import.meta.dirname, '..');

/** Starts what takes longest first: what is left for the end is short, so that no process waits long for the last one. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds: Readonly<Record<string, number>> = JSON.parse(readFileSync(DURATIONS, 'utf8'));
    const secondsOf = ({ moduleId }: TestSpecification) => seconds[moduleId.slice(ROOT.length + 1)] ?? 0;
    const others = await super.sort(files);
    return others.sort((a, b) => secondsOf(b) - secondsOf(a));
  }
}
