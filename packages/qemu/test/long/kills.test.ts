import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundledProgram } from '../../../../testing/bundled-program.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { machineDirectory } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing)
  console.warn(`\n*** SKIPPED: kills in the middle of work on machines: this machine has no ${missing} ***\n`);

const PROGRAM = join(import.meta.dirname, '../kill', 'program.mjs');

/** The state that the API reports after each verb, and the number of running machines. */
const EXPECTED = {
  create: [{ vm: 'active' }, 1],
  attach: [{ vm: 'active', volume: 'in-use' }, 1],
  stop: [{ vm: 'stopped' }, 0],
  start: [{ vm: 'active' }, 1],
  reboot: [{ vm: 'active' }, 1],
  suspend: [{ vm: 'suspended' }, 0],
  resume: [{ vm: 'active' }, 1],
  resize: [{ vm: 'resized' }, 1],
  widen: [{ vm: 'resized' }, 1],
  revert: [{ vm: 'active' }, 1],
  confirm: [{ vm: 'active' }, 1],
  snapshot: [{ vm: 'active' }, 1],
  rescue: [{ vm: 'rescued' }, 1],
  unrescue: [{ vm: 'active' }, 1],
  shelve: [{ vm: 'shelved_offloaded' }, 0],
  unshelve: [{ vm: 'active' }, 1],
  delete: [{ vm: 'gone', volume: 'available' }, 0],
} as const;

type Verb = keyof typeof EXPECTED;

/**
 * Sequences of verbs that restore the initial state, so that a sequence can be repeated with a kill after each of its
 * steps.
 */
const ROUNDS: readonly (readonly [string, readonly Verb[]])[] = [
  ['create, attach and delete', ['create', 'attach', 'delete']],
  ['stop and start', ['stop', 'start']],
  ['reboot', ['reboot']],
  ['suspend and resume', ['suspend', 'resume']],
  ['resize and revert', ['resize', 'revert']],
  ['resize and confirm', ['widen', 'confirm']],
  ['snapshot', ['snapshot']],
  ['rescue and unrescue', ['rescue', 'unrescue']],
  ['shelve and unshelve', ['shelve', 'unshelve']],
];

/**
 * The increment of the step after which the program is killed. By default, not every step is tested, because machines
 * take seconds to boot.
 */
const STRIDE = process.env.EVERY_STEP ? 1 : 3;

describe.skipIf(missing)('a program that is killed after steps of its work', { timeout: 600_000 }, () => {
  const running = new Set<ChildProcess>();
  let directory: string;
  let id: string;
  beforeEach(() => {
    directory = machineDirectory();
    mkdirSync(join(directory, 'qemu'), { mode: 0o711 });
    id = '';
  });
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
    for (const program of ['qemu-system', 'qemu-storage-daemon'])
      for (const pid of processesOf(directory, program)) process.kill(pid, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  /** The state that is expected when the next program has completed the work of the killed one. */
  interface Expected {
    readonly verb: Verb;
    readonly steps: number;
    readonly copies: number;
  }

  function check(state: { readonly images: readonly string[] }, { verb, steps, copies }: Expected): void {
    const what = `${verb}, killed after ${steps} steps`;
    const [expected, count] = EXPECTED[verb];
    expect({ what, ...state }).toMatchObject({ what, ...expected, task: null, fault: null });
    expect(processesOf(directory), what).toHaveLength(count);
    if (count === 1) expect(processesOf(join(directory, 'qemu', 'machines', id)), what).toHaveLength(1);
    expect([what, state.images.filter((image) => image === 'copy active').length]).toEqual([what, copies]);
    expect(state.images.filter((image) => !image.endsWith(' active'))).toEqual([]);
    expect(incompleteFiles(), what).toEqual([]);
  }

  /** Returns the temporary files that interrupted writes have left behind. */
  function incompleteFiles(): readonly string[] {
    const files = readdirSync(join(directory, 'qemu'), { recursive: true, encoding: 'utf8' });
    return files.filter((name) => /\.(new|part|copy|link)(\.raw)?$/.test(name));
  }

  /**
   * Starts a program that completes unfinished work, checks the expected state, and then runs an operation during which
   * the program kills itself after a number of steps. Returns whether the program died.
   */
  async function next(verb: Verb | 'nothing', steps: number, expected: Expected | undefined): Promise<boolean> {
    const args = [await bundledProgram(PROGRAM), directory, verb, id, `${steps}`];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    running.add(child);
    const ended = once(child, 'close');
    for await (const line of createInterface({ input: child.stdout })) {
      const [word, ...rest] = line.split(' ');
      if (word === 'state') {
        if (expected) check(JSON.parse(rest.join(' ')), expected);
        child.stdin.write('go\n');
      }
      if (word === 'begun' && rest[0]) [id] = rest as [string];
    }
    const [code, signal] = await ended;
    running.delete(child);
    if (signal === null) expect([verb, steps, code]).toEqual([verb, steps, 0]);
    return signal === 'SIGKILL';
  }

  it.each(ROUNDS)('leaves machines in the state that the API shows: %s', async (_title, verbs) => {
    let before: Expected | undefined;
    let copies = 0;
    if (verbs[0] !== 'create') {
      await next('create', Number.POSITIVE_INFINITY, undefined);
      before = { verb: 'create', steps: Number.POSITIVE_INFINITY, copies };
    }
    let deaths = 0;
    for (let [steps, killed] = [0, true]; killed; steps += STRIDE) {
      killed = false;
      for (const verb of verbs) {
        if (await next(verb, steps, before)) {
          killed = true;
          deaths++;
        }
        if (verb === 'snapshot') copies++;
        before = { verb, steps, copies };
      }
    }
    await next('nothing', Number.POSITIVE_INFINITY, before);
    // Each of these verbs takes several steps.
    expect(deaths).toBeGreaterThanOrEqual(verbs.length * Math.ceil(2 / STRIDE));
    if (verbs.at(-1) === 'delete') {
      expect(readdirSync(join(directory, 'qemu', 'machines'))).toEqual([]);
      expect(processesOf(directory, 'qemu-storage-daemon')).toEqual([]);
    }
  });
});
