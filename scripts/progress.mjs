// Shows the progress of several steps: one line that changes on a terminal, or one line per step elsewhere. The output
// of programs is written to a log file. If a step fails, the error contains the path of that file.
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { causeOf } from './cause-of.mjs';

const REFRESH_INTERVAL_MS = 200;

/**
 * Starts showing progress.
 * @param options.log path of the log file, which is overwritten
 * @param options.steps the number of steps
 * @param options.out the stream that shows the steps
 */
export function startProgress({ log, steps, out = process.stdout }) {
  mkdirSync(dirname(log), { recursive: true });
  const file = createWriteStream(log);
  const startedAt = Date.now();
  const running = new Map();
  let done = 0;
  let timer;

  function draw() {
    const names = [...running].map(([name, detail]) => (detail ? `${name} (${detail})` : name)).join(', ');
    const line = `[${done}/${steps}] ${names} ... ${((Date.now() - startedAt) / 1000).toFixed(0)} s`;
    out.write(`\r\x1b[2K${line.slice(0, (out.columns ?? 80) - 1)}`);
  }

  return {
    /**
     * Runs one step and returns its result. Rejects with an error that contains the remedy and the path of the log.
     * @param work receives a function that shows the progress of the step
     */
    async step(name, remedy, work) {
      running.set(name, '');
      if (!out.isTTY) out.write(`${name} ...\n`);
      else timer ??= setInterval(draw, REFRESH_INTERVAL_MS);
      try {
        return await work((detail) => running.set(name, detail));
      } catch (error) {
        file.write(`\n${name}: ${error.stack ?? error}\n${error.output ?? ''}`);
        throw Object.assign(new Error(`${name} failed: ${error.message}`), { remedy, log });
      } finally {
        running.delete(name);
        done++;
      }
    },

    /** Runs a program. Logs its output and passes each line to `onLine`. Rejects with the cause of a failure. */
    run(command, args, { onLine = () => undefined, ...options } = {}) {
      file.write(`\n> ${[command, ...args].join(' ')}\n`);
      return new Promise((resolve, reject) => {
        const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
        let output = '';
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding('utf8').on('data', (text) => {
            output += text;
            file.write(text);
            for (const line of text.split('\n')) onLine(line);
          });
        }
        child.on('error', reject);
        child.on('close', (status) => {
          if (status === 0) resolve();
          else reject(new Error(causeOf(output) ?? `exit code ${status}`));
        });
      });
    },

    /** Clears the progress line and closes the log. */
    end() {
      clearInterval(timer);
      if (out.isTTY) out.write('\r\x1b[2K');
      return new Promise((resolve) => file.end(resolve));
    },
  };
}
