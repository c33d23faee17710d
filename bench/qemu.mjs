// QEMU machines: the time from a request to the first line of a guest's output, the driver's share of that time, and
// the resources that the host program needs for idle machines. Where QEMU itself is not measured, qemu-stub.py replaces
// it.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEngine } from '@apistrata/compute-engine';
import { computeApi, noauth } from '@apistrata/compute-router';
import { qemuDriver } from '@apistrata/qemu';
import express from 'express';
import { emptyCloud } from './qemu-cloud.mjs';
import { median } from './samples.mjs';

const STUB = join(import.meta.dirname, 'qemu-stub.py');
const FULL = { boots: 9, real: 3, machines: 200, restMs: 30_000 };
const QUICK = { boots: 2, real: 1, machines: 10, restMs: 500 };
const POLL_MS = 2;
/** The systemd unit whose Node options the host program gets. */
const UNIT = join(import.meta.dirname, '../docs/operating/apistrata-host.service');

/** Returns milliseconds since the epoch, with the precision of the process clock. */
const now = () => performance.timeOrigin + performance.now();

function has(program) {
  try {
    return Boolean(execFileSync(program, ['--version']));
  } catch {
    return false;
  }
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the environment of the host program, with the Node options that its systemd unit sets. */
function hostEnvironment() {
  const [, options] = /^Environment=NODE_OPTIONS=(.*)$/m.exec(readFileSync(UNIT, 'utf8'));
  return { ...process.env, NODE_OPTIONS: options };
}

/** Returns the path of the newest Debian cloud kernel on this computer; undefined if none is installed. */
function kernel() {
  const names = readdirSync('/boot').filter((name) => /^vmlinuz-.*-cloud-amd64$/.test(name));
  return names.length > 0 ? join('/boot', names.sort().at(-1)) : undefined;
}

async function withFolder(work) {
  const directory = mkdtempSync(join(tmpdir(), 'ab-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Creates servers sequentially. For each server, passes the time of the request, the time of the first console line,
 * and the machine folder to `read`, and returns the results.
 */
function measureBoots(program, times, kernelFile, read) {
  return withFolder(async (directory) => {
    const { engine, context, request } = await emptyCloud(createEngine, qemuDriver, directory, program, kernelFile);
    const server = express()
      .use(computeApi({ engine, identity: noauth() }))
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    const body = { server: { name: 'web', flavorRef: '1', imageRef: request.imageId, networks: 'none' } };
    const headers = {
      'X-Auth-Token': 'ada:demo',
      'OpenStack-API-Version': 'compute 2.96',
      'Content-Type': 'application/json',
    };
    const samples = [];
    try {
      // The first server downloads the image, and is not counted.
      for (let i = 0; i <= times; i++) {
        const started = now();
        const url = `http://127.0.0.1:${server.address().port}/v2.1/servers`;
        const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
        const { id } = (await response.json()).server;
        const folder = join(directory, 'q', 'machines', id);
        while (!textOf(join(folder, 'console.log')).includes('\n')) await sleep(POLL_MS);
        if (i > 0) samples.push(read(started, now(), folder));
        await engine.idle();
        await engine.servers.delete(context, id);
        await engine.idle();
      }
    } finally {
      server.close();
      await engine.close();
    }
    return samples;
  });
}

/** Returns the time that the driver needs: until QEMU starts, and from QEMU's readiness until the guest is resumed. */
function driverTime(started, _seen, folder) {
  const { begun, listening, going } = JSON.parse(readFileSync(join(folder, 'times.json'), 'utf8'));
  return begun * 1000 - started + (going - listening) * 1000;
}

function measureIdleMachines(machines, restMs) {
  return withFolder(async (directory) => {
    const worker = fork(join(import.meta.dirname, 'qemu.worker.mjs'), [directory, `${machines}`, `${restMs}`], {
      env: hostEnvironment(),
    });
    const ended = once(worker, 'exit');
    const [found] = await Promise.race([
      once(worker, 'message'),
      ended.then(([code]) => Promise.reject(new Error(`${code}`))),
    ]);
    await ended;
    if (found.active !== machines) throw new Error(`${found.active} of ${machines} machines run`);
    return found;
  });
}

export async function run({ quick }) {
  const { boots, real, machines, restMs } = quick ? QUICK : FULL;
  if (!has('python3') || !has('qemu-img'))
    return [{ what: 'machines of QEMU', unit: 'skipped: this machine has no python3 or no qemu-img' }];
  const own = await measureBoots(STUB, boots, undefined, driverTime);
  const rows = [{ what: 'from POST to a running machine: our share', ours: own, unit: 'ms', budget: '<= 150 ms' }];
  const kernelFile = has('qemu-system-x86_64') ? kernel() : undefined;
  if (kernelFile) {
    const all = await measureBoots('qemu-system-x86_64', real, kernelFile, (started, seen) => seen - started);
    const rest = all.map((ms) => ms - median(own));
    rows.push({ what: "from POST to the guest's first line, in total", ours: all, unit: 'ms' });
    rows.push({ what: 'share of QEMU and the guest (a kernel; TCG without KVM)', ours: rest, unit: 'ms' });
  }
  const idle = await measureIdleMachines(machines, restMs);
  const label = `the program with ${machines} idle machines (of a stub)`;
  rows.push({ what: `memory ${label}`, ours: idle.rssMib, unit: 'MiB', budget: '<= 150 MiB' });
  rows.push({ what: `time ${label}, over ${restMs / 1000} s`, ours: idle.busy, unit: '% of a core', budget: '<= 2 %' });
  return rows;
}
