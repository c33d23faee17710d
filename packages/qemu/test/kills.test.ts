import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { missingForGuests } from './guest/build-guest.js';
import { processesOf } from './processes-of.js';
import { machineDirectory } from './qemu-cloud.js';

const missing = missingForGuests();
if (missing)
  console.warn(`\n*** SKIPPED: kills in the middle of work on machines: this machine has no ${missing} ***\n`);

const PROGRAM = join(import.meta.dirname, 'kill', 'program.mjs');

/** How long the program goes on after its answer until it is killed, in milliseconds; other moments can be tried. */
const KILL_AFTER_MS = Number(process.env.KILL_AFTER_MS ?? 0);

/** What the API says after each verb, and how many machines run then. */
const VERBS = [
  ['create', { vm: 'active' }, 1],
  ['attach', { vm: 'active', volume: 'in-use' }, 1],
  ['stop', { vm: 'stopped' }, 0],
  ['start', { vm: 'active' }, 1],
  ['reboot', { vm: 'active' }, 1],
  ['suspend', { vm: 'suspended' }, 0],
  ['resume', { vm: 'active' }, 1],
  ['resize', { vm: 'resized' }, 1],
  ['confirm', { vm: 'active' }, 1],
  ['snapshot', { vm: 'active' }, 1],
  ['rescue', { vm: 'rescued' }, 1],
  ['unrescue', { vm: 'active' }, 1],
  ['shelve', { vm: 'shelved_offloaded' }, 0],
  ['unshelve', { vm: 'active' }, 1],
  ['delete', { vm: 'gone', volume: 'available' }, 0],
] as const;

describe.skipIf(missing)('a program that is killed in the middle of work', { timeout: 600_000 }, () => {
  const running = new Set<ChildProcess>();
  let directory: string;
  beforeEach(() => {
    directory = machineDirectory();
    mkdirSync(join(directory, 'qemu'), { mode: 0o711 });
  });
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
    for (const program of ['qemu-system', 'qemu-storage-daemon'])
      for (const pid of processesOf(directory, program)) process.kill(pid, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  /** Starts the program, and gives what it says. */
  function program(ask: string, id = '') {
    const child = spawn(process.execPath, [PROGRAM, directory, ask, id], { stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    const ended = once(child, 'exit').then(() => running.delete(child));
    let complaints = '';
    child.stderr.on('data', (text) => {
      complaints += text;
    });
    const lines: string[] = [];
    const said = (word: string) =>
      new Promise<string>((resolve, reject) => {
        const look = () => {
          const line = lines.find((one) => one.startsWith(word));
          if (line !== undefined) resolve(line.slice(word.length + 1));
        };
        createLines.on('line', look);
        look();
        ended.then(() => setImmediate(() => reject(new Error(`the program has ended: ${complaints}`))));
      });
    const createLines = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    return { child, ended, said };
  }

  /** What the next program of the same folder makes of it. */
  async function settled(id: string) {
    const { said, ended } = program('nothing', id);
    const state = JSON.parse(await said('state'));
    await ended;
    return state;
  }

  it('leaves machines that are as the API says, after each verb', async () => {
    const machines = join(directory, 'qemu', 'machines');
    let id = '';
    for (const [verb, expected, count] of VERBS) {
      const { child, said, ended } = program(verb, id);
      id = (await said('begun')) || id;
      await sleep(KILL_AFTER_MS);
      child.kill('SIGKILL');
      await ended;
      const state = await settled(id);
      expect({ verb, ...state }).toMatchObject({ verb, ...expected });
      expect(state.task ?? null, verb).toBeNull();
      expect(processesOf(directory), verb).toHaveLength(count);
      if (count === 1) expect(processesOf(join(machines, id)), verb).toHaveLength(1);
      if (verb === 'snapshot') expect(state.images).toContain('copy active');
    }
    expect(readdirSync(machines)).toEqual([]);
    expect(processesOf(directory, 'qemu-storage-daemon')).toEqual([]);
  });
});
