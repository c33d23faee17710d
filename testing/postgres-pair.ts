import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, freePort, initPostgres, programUser, runPostgres } from './servers.js';

/** A PostgreSQL primary and its standby. */
export interface PostgresPair {
  /** A URL that names both servers, the standby first. */
  readonly url: string;
  readonly primaryUrl: string;
  readonly primaryPid: number;
  readonly standbyUrl: string;
  /** Pauses replay: the standby receives the changes of the primary, but queries do not see them. */
  readonly pauseReplay: () => void;
  /** Reverts `pauseReplay`; must also be called before the standby is ended. */
  readonly resumeReplay: () => void;
  /** Kills the standby, like a power failure. */
  readonly killStandby: () => Promise<void>;
  /** Starts the standby again. */
  readonly startStandby: () => Promise<void>;
  /** Kills the primary, like a power failure. */
  readonly killPrimary: () => Promise<void>;
  /** Promotes the standby; resolves when it accepts writes. */
  readonly promote: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a primary and a standby in temporary folders.
 *
 * @param waits whether each commit is on both servers before it is acknowledged
 */
export async function startPostgresPair(waits = true): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-pair-'));
  const user = programUser(folder);
  const options = { ...user, cwd: folder, stdio: 'pipe' } as const;
  const [primary, standby] = [join(folder, 'primary'), join(folder, 'standby')];
  const [primaryPort, standbyPort] = [await freePort(), await freePort()];
  initPostgres(primary, options);
  // Commits do not wait for the standby until it runs.
  const first = await runPostgres(primary, primaryPort, options, ['fsync=off']);
  const source = `host=127.0.0.1 port=${primaryPort} user=test application_name=standby`;
  execFileSync(
    findProgram('pg_basebackup')!,
    ['-D', standby, '-R', '-X', 'stream', '-c', 'fast', '-d', source],
    options,
  );
  // Replay does not wait for queries.
  const follow = () => runPostgres(standby, standbyPort, options, ['fsync=off', 'max_standby_streaming_delay=0']);
  let second = await follow();
  const request = (port: number, sql: string) =>
    execFileSync(findProgram('psql')!, ['-h', '127.0.0.1', '-p', String(port), '-U', 'test', '-Atc', sql, 'postgres'], {
      ...options,
      encoding: 'utf8',
    }).trim();
  /** Replay cancels conflicting queries, including the one that resumes it. */
  function queryStandby(sql: string): string {
    for (let attempt = 1; ; attempt++) {
      try {
        return request(standbyPort, sql);
      } catch (error) {
        if (attempt === 50 || !/conflict with recovery/.test(String(error))) throw error;
      }
    }
  }
  async function until(port: number, sql: string, expected: string): Promise<void> {
    for (let attempt = 0; request(port, sql) !== expected; attempt++) {
      if (attempt === 300) throw new Error(`'${sql}' has not become '${expected}'`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  if (waits) {
    request(primaryPort, "alter system set synchronous_standby_names = 'standby'");
    request(primaryPort, 'select pg_reload_conf()');
  }
  await until(primaryPort, 'select sync_state from pg_stat_replication', waits ? 'sync' : 'async');
  return {
    url: `postgres://test@127.0.0.1:${standbyPort},127.0.0.1:${primaryPort}/postgres`,
    primaryUrl: `postgres://test@127.0.0.1:${primaryPort}/postgres`,
    primaryPid: first.pid,
    standbyUrl: `postgres://test@127.0.0.1:${standbyPort}/postgres`,
    pauseReplay: () => void request(standbyPort, 'select pg_wal_replay_pause()'),
    resumeReplay: () => void queryStandby('select pg_wal_replay_resume()'),
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
