import type { Reporter, TestModule } from 'vitest/node';

/**
 * Lists the tests that failed and then passed, with what was wrong: what tests get a second attempt for (`VITEST_RETRY=1`)
 * must not go unseen, for each of them is a weakness, of the test or of what it looks at.
 */
export default class SecondAttempts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky);
    if (flaky.length === 0) return;
    console.log(`\nPassed at the second attempt only (${flaky.length}):`);
    for (const test of flaky) {
      console.log(`  ${test.module.relativeModuleId} > ${test.fullName}`);
      for (const { message } of test.result().errors ?? []) console.log(`    ${message}`);
    }
  }
}
