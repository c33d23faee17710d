import { spawn } from 'node:child_process';

/**
 * Runs a program until it prints its URL, and sends one request to that URL. Ends the program and all processes that it
 * has started.
 * @param options.sign matches what the program prints; the first group is the URL
 * @param options.path appended to the URL
 * @returns the status of the response
 * @throws with the output if the program ends before it prints its URL
 */
export async function firstStatus(program, args, { cwd, env, sign, path = '' }) {
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  const url = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        output += text;
        const [, found] = sign.exec(output) ?? [];
        if (found) resolve(found);
      });
  });
  try {
    const found = await Promise.race([url, ended]);
    if (typeof found !== 'string') throw new Error(`${program} ended`, { cause: output });
    return (await fetch(`${found}${path}`, { headers: { 'X-Auth-Token': 'ada:demo' } })).status;
  } finally {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      // It has ended.
    }
    await ended;
  }
}
