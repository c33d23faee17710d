import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, freePort, initPostgres, programUser, runPostgres } from './servers.js';

/** A PostgreSQL and one that follows it. */
export interface PostgresPair {
  /** Names both, the one that follows first. */
  readonly url: string;
  readonly primaryUrl: string;
  readonly primaryPid: number;
  readonly standbyUrl: string;
  /** Has the one that follows receive what the other one writes, and show nothing of it. */
  readonly pauseReplay: () => void;
  /** The opposite of `pauseReplay`; also to be called before it is ended. */
  readonly resumeReplay: () => void;
  /** Kills the one that follows as a power cut would. */
  readonly killStandby: () => Promise<void>;
  /** Starts it again after that. */
  readonly startStandby: () => Promise<void>;
  /** Kills the primary as a power cut would. */
  readonly killPrimary: () => Promise<void>;
  /** Makes the other one the primary; resolves when it takes changes. */
  readonly promote: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a pair of them in temporary folders.
 *
 * @param waits whether each commit is on both before it is acknowledged
 */
export async function startPostgresPair(waits = true): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-pair-'));
  const user = programUser(folder);
  const options = { ...user, cwd: folder, stdio: 'pipe' } as const;
  const [primary, standby] = [join(folder, 'primary'), join(folder, 'standby')];
  const [primaryPort, standbyPort] = [await freePort(), await freePort()];
  initPostgres(primary, options);
  // Nobody waits for the second one before it is there.
  const first = await runPostgres(primary, primaryPort, options, ['synchronous_commit=on']);
  const source = `host=127.0.0.1 port=${primaryPort} user=test application_name=standby`;
  execFileSync(
    findProgram('pg_basebackup')!,
    ['-D', standby, '-R', '-X', 'stream', '-c', 'fast', '-d', source],
    options,
  );
  // What has to be replayed waits for nobody's question.
  const follow = () =>
    runPostgres(standby, standbyPort, options, ['synchronous_commit=on', 'max_standby_streaming_delay=0']);
  let second = await follow();
  const ask = (port: number, sql: string) =>
    execFileSync(findProgram('psql')!, ['-h', '127.0.0.1', '-p', String(port), '-U', 'test', '-Atc', sql, 'postgres'], {
      ...options,
      encoding: 'utf8',
    }).trim();
  /** What has to be replayed cancels questions that are in its way, the one that lets it go on among them. */
  function askStandby(sql: string): string {
    for (let attempt = 1; ; attempt++) {
      try {
        return ask(standbyPort, sql);
      } catch (error) {
        if (attempt === 50 || !/conflict with recovery/.test(String(error))) throw error;
      }
    }
  }
  async function until(port: number, sql: string, wanted: string): Promise<void> {
    for (let attempt = 0; ask(port, sql) !== wanted; attempt++) {
      if (attempt === 300) throw new Error(`'${sql}' has not become '${wanted}'`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  if (waits) {
    ask(primaryPort, "alter system set synchronous_standby_names = 'standby'");
    ask(primaryPort, 'select pg_reload_conf()');
  }
  await until(primaryPort, 'select sync_state from pg_stat_replication', waits ? 'sync' : 'async');
  return {
    url: `postgres://test@127.0.0.1:${standbyPort},127.0.0.1:${primaryPort}/postgres`,
    primaryUrl: `postgres://test@127.0.0.1:${primaryPort}/postgres`,
    primaryPid: first.pid,
    standbyUrl: `postgres://test@127.0.0.1:${standbyPort}/postgres`,
    pauseReplay: () => void ask(standbyPort, 'select pg_wal_replay_pause()'),
    resumeReplay: () => void askStandby('select pg_wal_replay_resume()'),
    killStandby: () => second.end('SIGKILL'),
    async startStandby() {
      second = await follow();
    },
    killPrimary: () => first.end('SIGKILL'),
    async promote() {
      execFileSync(findProgram('pg_ctl')!, ['promote', '-w', '-D', standby], options);
      await until(standbyPort, 'select pg_is_in_recovery()', 'f');
    },
    async stop() {
      await Promise.all([first.end('SIGKILL'), second.end('SIGKILL')]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
