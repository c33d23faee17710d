import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTime } from '@apistrata/compute-engine/drivers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProcessGuard } from '../src/fence/process-guard.js';
import type { QemuError } from '../src/qemu-error.js';

/** Simulates a machine's process with a control socket. The process receives this function as source text. */
function runMachine(): void {
  const [, socket = '', kind] = process.argv.slice(1);
  let running = true;
  const results = {
    'query-status': () => ({ running }),
    stop: () => {
      running = false;
    },
    quit: () => process.exit(),
  };
  const { createServer } = process.getBuiltinModule('node:net');
  createServer((connection) => {
    if (kind === 'silent') return;
    connection.write('{"QMP": {}}\n');
    connection.setEncoding('utf8').on('data', (line: string) => {
      const result = results[JSON.parse(line).execute as keyof typeof results]?.() ?? {};
      connection.write(`{"event": "X"}\n${JSON.stringify({ return: result })}\n`);
    });
  }).listen(socket);
}

describe('the guard of a host', { timeout: 60_000 }, () => {
  let directory: string;
  const children: ChildProcess[] = [];
  const guards: ProcessGuard[] = [];
  const lines: string[] = [];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'apistrata-guard-'));
    mkdirSync(join(directory, 'machines'));
    lines.length = 0;
  });
  afterEach(async () => {
    for (const guard of guards.splice(0)) await guard.end();
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  const lives = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;
  const startNode = (...args: readonly string[]) => {
    const child = spawn(process.execPath, ['-e', ...args], { stdio: 'ignore' });
    children.push(child);
    return child;
  };

  async function machine(id: string, kind: 'responds' | 'silent' = 'responds'): Promise<ChildProcess> {
    const folder = join(directory, 'machines', id);
    mkdirSync(folder);
    const child = startNode(`(${runMachine})()`, join(folder, 'pid'), join(folder, 'guard'), kind);
    await expect.poll(() => existsSync(join(folder, 'guard'))).toBe(true);
    // A machine whose socket does not listen yet is killed, like a machine that does not respond.
    writeFileSync(join(folder, 'pid'), `${child.pid}`);
    return child;
  }

  function host(): ProcessGuard {
    const guard = new ProcessGuard({ directory, log: (line) => lines.push(line) });
    guards.push(guard);
    return guard;
  }

  /** Returns an order with a generous timeout, because responses may take seconds on a busy computer. */
  const order = (action: 'stop' | 'pause', inMs: number, withinMs = 20_000) => ({
    action,
    at: bootTime() + inMs,
    withinMs,
  });
  const pids = () =>
    readdirSync(join(directory, 'guard')).map((name) =>
      Number(readFileSync(join(directory, 'guard', name, 'pid'), 'utf8')),
    );
  /** Returns the process id of the first guard. A signal to process 0 would end the tests' own process group. */
  const guardPid = () => {
    const [pid = 0] = pids();
    expect(pid).toBeGreaterThan(0);
    return pid;
  };
  const exists = (pid: number) => existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`).length > 0;
  const rejection = (guard: ProcessGuard) => {
    try {
      guard.checkRunning();
    } catch (error) {
      return (error as QemuError).code;
    }
    return undefined;
  };
  const dead = (child: ChildProcess) => expect.poll(() => lives(child)).toBe(false);

  it('switches machines off at the time of the last renewal, and not before', async () => {
    const child = await machine('a');
    const guard = host();
    // On a busy computer, the guard may need seconds to start.
    await guard.ensureRunning(order('stop', 5_000));
    const last = order('stop', 6_000);
    await guard.renew(last);
    // A delayed renewal cannot move the fencing time to an earlier point.
    await guard.renew(order('stop', 500));
    await dead(child);
    expect(bootTime()).toBeGreaterThanOrEqual(last.at);
    expect(child.signalCode).toBeNull();
    await guard.renew(order('stop', 60_000));
    expect(lines).toEqual([expect.stringMatching(/no heartbeat in time: stop was applied to a$/)]);
  });

  it('acts although the host process has ended, and ends when no machine is left', async () => {
    const child = await machine('a');
    const guard = host();
    await guard.ensureRunning(order('stop', 1_000));
    const pid = guardPid();
    guard.disconnect();
    await dead(child);
    await expect.poll(() => exists(pid)).toBe(false);
  });

  it('pauses machines, including those that start later, until a renewal', async () => {
    await machine('a');
    const guard = host();
    await guard.ensureRunning(order('pause', 300));
    await expect.poll(() => guard.listPaused()).toEqual(['a']);
    await machine('b');
    await expect.poll(async () => [...(await guard.listPaused())].sort()).toEqual(['a', 'b']);
    await guard.renew(order('pause', 60_000));
    const late = await machine('c');
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect([...(await guard.listPaused())].sort()).toEqual(['a', 'b']);
    expect(lives(late)).toBe(true);
  });

  it('kills a machine that does not respond', async () => {
    const child = await machine('a', 'silent');
    await host().ensureRunning(order('pause', 0, 800));
    await dead(child);
    expect(child.signalCode).toBe('SIGKILL');
  });

  it('never signals a process that has the id of a machine that has ended', async () => {
    const other = startNode('setInterval(() => {}, 1000)');
    const folder = join(directory, 'machines', 'former');
    mkdirSync(folder);
    writeFileSync(join(folder, 'pid'), `${other.pid}`);
    const child = await machine('a');
    await host().ensureRunning(order('stop', 0));
    await dead(child);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(lives(other)).toBe(true);
  });

  it('is replaced by that of the next host process only after its first heartbeat', async () => {
    const child = await machine('a');
    const former = host();
    await former.ensureRunning(order('stop', 60_000));
    const pid = guardPid();
    former.disconnect();
    const next = host();
    await next.ensureRunning(order('stop', 60_000));
    expect(pids()).toHaveLength(2);
    expect(exists(pid)).toBe(true);
    await next.renew(order('stop', 60_000));
    expect(exists(pid)).toBe(false);
    expect(pids()).toHaveLength(1);
    expect(lives(child)).toBe(true);
  });

  it('acts at the time of the former heartbeat if the next host process stores none', async () => {
    const child = await machine('a');
    const former = host();
    await former.ensureRunning(order('stop', 1_500));
    former.disconnect();
    await host().ensureRunning(order('stop', 60_000));
    await dead(child);
  });

  it('is started again with its time when it is killed', async () => {
    const child = await machine('a');
    const guard = host();
    await guard.ensureRunning(order('stop', 2_500));
    const pid = guardPid();
    process.kill(pid, 'SIGKILL');
    await dead(child);
  });

  it('is replaced when it does not respond', async () => {
    const child = await machine('a');
    const guard = host();
    await guard.ensureRunning(order('stop', 60_000));
    const pid = guardPid();
    process.kill(pid, 'SIGSTOP');
    await guard.ensureRunning(order('stop', 60_000));
    await guard.renew(order('stop', 60_000));
    expect(exists(pid)).toBe(false);
    expect(pids()).toHaveLength(1);
    expect(lives(child)).toBe(true);
  });

  it('ends without an effect on machines', async () => {
    const child = await machine('a');
    const guard = host();
    await guard.ensureRunning(order('stop', 60_000));
    const pid = guardPid();
    await guard.end();
    expect(exists(pid)).toBe(false);
    expect(pids()).toEqual([]);
    expect(lives(child)).toBe(true);
  });

  it('reports an error if it cannot run', async () => {
    writeFileSync(join(directory, 'guard'), '');
    await expect(host().ensureRunning(order('stop', 60_000))).rejects.toThrow('guard');
    rmSync(join(directory, 'guard'));
  });

  it('forbids its host to run machines from the time at which it acts to the next heartbeat', async () => {
    const guard = host();
    expect(rejection(guard)).toBeUndefined();
    await guard.ensureRunning(order('stop', 200));
    await expect.poll(() => rejection(guard)).toBe('HOST_FENCED');
    await guard.renew(order('stop', 60_000));
    expect(rejection(guard)).toBeUndefined();
  });
});
