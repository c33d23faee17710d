// Host programs with machines that a QEMU stub simulates: the resources that an idle program needs, and the time that a
// program needs to adopt the machines of its predecessor.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { now, textOf, until, withFolder } from './qemu-api.mjs';
import { folderOf } from './qemu-cloud.mjs';

/** The systemd unit whose Node options the host program gets. */
const UNIT = join(import.meta.dirname, '../docs/operating/apistrata-host.service');

/** Returns the environment of the host program, with the Node options that its systemd unit sets. */
function hostEnvironment() {
  const [, options] = /^Environment=NODE_OPTIONS=(.*)$/m.exec(readFileSync(UNIT, 'utf8'));
  return { ...process.env, NODE_OPTIONS: options };
}

/** Starts a host program, and waits until its machines run; see qemu.worker.mjs. */
async function startProgram(directory, machines) {
  const child = fork(join(import.meta.dirname, 'qemu.worker.mjs'), [directory, `${machines}`], {
    env: hostEnvironment(),
  });
  const ended = once(child, 'exit');
  const nextResult = async () => {
    const failure = ended.then(([code]) => Promise.reject(new Error(`the host program exited with ${code}`)));
    const [{ done }] = await Promise.race([once(child, 'message'), failure]);
    return done;
  };
  const active = await nextResult();
  if (active !== machines) throw new Error(`${active} of ${machines} machines run`);
  return {
    call: (command, options) => {
      child.send({ command, ...options });
      return nextResult();
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function measureIdle(machines, restMs) {
  return withFolder(async (directory) => {
    const program = await startProgram(directory, machines);
    const figures = await program.call('rest', { restMs });
    await program.call('remove');
    await program.kill();
    return figures;
  });
}

/** Returns true if a program that was started at this time has queried the status of all machines. */
function areAdopted(directory, machines, started) {
  const ids = readdirSync(folderOf(directory, ''));
  const adopted = ids.filter((id) => Number(textOf(join(folderOf(directory, id), 'adopted'))) * 1000 > started);
  return adopted.length === machines;
}

/**
 * Kills a host program and starts the next one, several times. Returns the times from the start of each program until
 * it has found all machines by itself, and then all of them have responded to a query.
 */
function measureAdoption(machines, rounds) {
  return withFolder(async (directory) => {
    let program = await startProgram(directory, machines);
    const samples = [];
    for (let round = 0; round < rounds; round++) {
      await program.kill();
      const started = now();
      program = await startProgram(directory, machines);
      await until('all machines are adopted', () => areAdopted(directory, machines, started), 20);
      const responding = await program.call('respond');
      if (responding !== machines) throw new Error(`${responding} of ${machines} machines respond`);
      samples.push(now() - started);
    }
    await program.call('remove');
    await program.kill();
    return samples;
  });
}

/** Measures host programs, and returns the rows. */
export async function measurePrograms({ programs, machines, restMs, adopted, restarts }) {
  // The programs run at the same time, because the measurement mostly waits. Only their CPU time is measured.
  const idle = await Promise.all(Array.from({ length: programs }, () => measureIdle(machines, restMs)));
  const label = `the program with ${machines} idle machines (of a stub)`;
  return [
    { what: `memory ${label}`, ours: idle.map(({ rssMib }) => rssMib), unit: 'MiB', budget: '<= 150 MiB' },
    {
      what: `time ${label}, over ${restMs / 1000} s`,
      ours: idle.map(({ busy }) => busy),
      unit: '% of a core',
      budget: '<= 2 %',
    },
    {
      what: `from the start of the program until ${adopted} machines (of a stub) are adopted and respond`,
      ours: await measureAdoption(adopted, restarts),
      unit: 'ms',
      budget: '<= 2000 ms',
    },
  ];
}
