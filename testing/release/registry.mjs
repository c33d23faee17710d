import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fetchPnpm } from '../../scripts/tools.mjs';

const VERDACCIO = join(import.meta.dirname, '../../node_modules/verdaccio/bin/verdaccio');

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

/** The registry of npm's configuration: all third-party packages come from there. */
function upstream() {
  return execFileSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/**
 * Returns the environment without settings that npm and pnpm pass to child processes. `npm run` passes its own settings
 * on, including the user's file with registry and token, which would have precedence.
 */
function withoutSettings() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^p?npm_/i.test(name)));
}

/** Throws unless both programs publish to this registry and nowhere else. */
async function checkRegistry(url, env) {
  for (const [program, ...args] of [['npm'], [process.execPath, await fetchPnpm()]]) {
    const command = [...args, 'config', 'get', 'registry'];
    const options = { cwd: tmpdir(), env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    const used = execFileSync(program, command, options).trim();
    if (used !== url) throw new Error(`${[program, ...args].join(' ')} would publish to ${used}, not to ${url}`);
  }
}

/**
 * Starts a local registry in a temporary folder; it forwards requests for other packages to the configured registry.
 *
 * @returns its URL; the complete environment of programs that use only this registry, with separate caches; a function
 *   that stops it
 */
export async function startRegistry(folder) {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const openAccess = { access: '$all', publish: '$all' };
  const config = {
    storage: join(folder, 'storage'),
    uplinks: { upstream: { url: upstream(), timeout: '60s' } },
    packages: { '@apistrata/*': openAccess, '**': { access: '$all', proxy: 'upstream' } },
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    log: { type: 'file', path: join(folder, 'log'), level: 'warn' },
    max_body_size: '100mb',
  };
  // JSON is YAML, too.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  writeFileSync(join(folder, 'npmrc'), `registry=${url}\n//127.0.0.1:${port}/:_authToken=nobody\n`);

  const args = [VERDACCIO, '--config', join(folder, 'config.yaml'), '--listen', `127.0.0.1:${port}`];
  const server = spawn(process.execPath, args, { stdio: 'ignore' });
  const ended = once(server, 'exit');
  const deadline = Date.now() + 60_000;
  while (!(await fetch(`${url}-/ping`).catch(() => undefined))?.ok) {
    if (server.exitCode !== null || Date.now() > deadline)
      throw new Error(`the registry does not start: ${folder}/log`);
    await pause(200);
  }
  const env = {
    ...withoutSettings(),
    npm_config_userconfig: join(folder, 'npmrc'),
    npm_config_registry: url,
    npm_config_cache: join(folder, 'npm-cache'),
    npm_config_provenance: 'false',
    pnpm_config_registry: url,
    pnpm_config_cache_dir: join(folder, 'pnpm-cache'),
  };
  const stop = async () => {
    server.kill();
    await ended;
  };
  try {
    await checkRegistry(url, env);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    env,
    /** Returns the registry's metadata of a package; undefined if it does not exist. */
    async metadataOf(name) {
      const response = await fetch(`${url}${name.replace('/', '%2f')}`);
      return response.ok ? response.json() : undefined;
    },
    stop,
  };
}
