import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { composeServer } from '../src/compose.js';
import { observationFrom } from '../src/observation.js';
import { type Plan, planFrom } from '../src/plan.js';
import { readOptions } from '../src/read-options.js';
import { StartError } from '../src/start-error.js';

/** Returns the error with which a start fails. `changes` replace values of the validated options. */
async function startError(args: readonly string[], changes: Partial<Plan> = {}): Promise<unknown> {
  const options = readOptions(args, {});
  const plan = { ...planFrom(options, {}, await observationFrom(options)), ...changes };
  return composeServer(plan, ':memory:', pino({ level: 'silent' }), false).then(({ close }) => close(), Object);
}

describe('the set-up of the server', () => {
  it.each([
    ['2.999', 'computeRouter(): maxVersion is 2.999, but it must be between 2.1 and '],
    ['newest', "'newest' is not a version: "],
  ])('names the option of the version %s, which does not exist', async (version, reason) => {
    const error = await startError(['--max-version', version]);
    expect(error).toBeInstanceOf(StartError);
    expect(String(error)).toContain(`--max-version: ${reason}`);
  });

  it('names the option of an invalid origin', async () => {
    const error = await startError(['--cors-origin', 'example.org']);
    expect(error).toBeInstanceOf(StartError);
    expect(String(error)).toContain("--cors-origin: 'example.org' is not an origin");
  });

  it('attributes no other error to an option', async () => {
    const error = await startError([], { rateLimits: undefined as never });
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).not.toContain('--');
  });
});
