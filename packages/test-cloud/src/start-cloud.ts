import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dumpTables, loadTables } from '@apistrata/compute-engine/testing';
import { allowedHosts, isLoopback, newestSupported } from '@apistrata/compute-router';
import { CloudClock } from './clock/cloud-clock.js';
import { cloudsYaml, environment } from './environment.js';
import { cloudApp } from './gateway/cloud-app.js';
import { gateway } from './gateway/gateway.js';
import { HttpRules } from './gateway/http-rules.js';
import { Journal } from './gateway/journal.js';
import { RuleBook } from './gateway/rule-book.js';
import { UnhandledRequests } from './gateway/unhandled-requests.js';
import { DemoDirectory, PASSWORD } from './identity/demo-directory.js';
import { identifyCaller } from './identity/identify-caller.js';
import { type CloudOptions, checkCloudOptions, SPEEDS } from './options.js';
import { populate } from './presets/populate.js';
import { type CloudPreset, presets } from './presets/presets.js';
import { Documents } from './service/documents.js';
import { type CloudContent, type ContentOptions, createContent } from './state/cloud-content.js';
import type { TestCloud } from './test-cloud.js';

/** Idle connections are closed after this time, as in the reference server, so that polling clients can reuse them. */
const KEEP_ALIVE_MS = 75_000;

function presetFrom(preset: CloudOptions['preset'] = 'small'): CloudPreset {
  return typeof preset === 'string' ? presets[preset]() : { preset };
}

/**
 * Starts a complete cloud in this process, in memory, on a free port. `stop()` releases all of its resources.
 *
 * @example
 * ```ts
 * import { startCloud } from '@apistrata/test-cloud';
 *
 * const cloud = await startCloud();
 * await fetch(`${cloud.url}/compute/v2.1/servers`, { headers: { 'X-Auth-Token': cloud.token('ada') } });
 * await cloud.stop();
 * ```
 */
export async function startCloud(options: CloudOptions = {}): Promise<TestCloud> {
  checkCloudOptions(options);
  const host = options.host ?? '127.0.0.1';
  const checkHost = allowedHosts({ host, allowed: options.allowedHosts });
  const maxVersion = options.maxVersion === 'latest' ? newestSupported().text : options.maxVersion;
  const onError = options.onError ?? ((error: unknown) => console.error(error));
  const initial = presetFrom(options.preset);
  const clock = new CloudClock();
  if (options.clock === 'frozen') clock.freeze();
  const documents = new Documents();
  const directory = new DemoDirectory(documents, clock);
  const identityOf = identifyCaller(directory);
  const journal = new Journal();
  const unserved = new UnhandledRequests();
  const httpRules = new HttpRules(clock);
  const contentOptions: ContentOptions = {
    clock,
    identifyCaller: identityOf,
    projectExists: (id) => directory.state.projects.has(id),
    settings: options.settings,
    latencyMs: options.latencyMs ?? SPEEDS[options.pace ?? 'instant'],
    transientMs: options.transientMs ?? 0,
    maxVersion,
    onError,
  };

  async function firstContent(): Promise<CloudContent> {
    const created = await createContent(contentOptions, initial.preset);
    if (initial.population) await populate(created.engine, directory, initial.population);
    return created;
  }
  let content = await firstContent();
  const rules = new RuleBook(httpRules, () => content.driver);

  /** Replaces the cloud's content during `reset` or `restore`. */
  async function replaceContent(next: Promise<CloudContent>): Promise<void> {
    const before = content;
    content = await next;
    before.driver.clearRules();
    httpRules.clear();
    await before.engine.close();
  }

  let authUrl = '';
  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    content.driver.clearRules();
    await content.engine.close();
  }

  const cloud: Omit<TestCloud, 'url' | 'authUrl' | 'env' | 'cloudsYaml'> = {
    token: (user = 'admin', project = 'demo', roles = user === 'admin' ? ['admin'] : ['member', 'reader']) =>
      directory.lastingToken(user, project, roles),
    envFor: (login) => {
      const user = directory.user(login.user ?? 'admin');
      const scope = { kind: 'project', id: directory.project(login.project ?? 'demo').id } as const;
      if (directory.roleIdsOf(user.id, scope).length === 0)
        for (const role of ['member', 'reader']) directory.grant(user, scope, role);
      return environment(authUrl, PASSWORD, login);
    },
    clock,
    rules: {
      machine: (rule) => rules.machine(rule).handle,
      http: (rule) => rules.http(rule).handle,
      clear: () => rules.clear(),
    },
    get engine() {
      return content.engine;
    },
    requests: (query) => journal.list(query),
    onRequest: (listener) => journal.follow(listener),
    unserved: () => unserved.list(),
    restartHost: (name) => content.engine.services.begin([name]),
    idle: () => content.engine.idle(),
    async reset() {
      documents.clear();
      directory.seed();
      await replaceContent(firstContent());
      journal.clear();
      unserved.clear();
    },
    async save() {
      return {
        tables: await dumpTables(content.engine),
        documents: documents.save(),
        now: clock.now(),
      };
    },
    async restore(state) {
      clock.moveTo(state.now);
      documents.restore(state.documents);
      const next = async () => {
        const created = await createContent(contentOptions, {});
        await loadTables(created.engine, state.tables);
        return created;
      };
      await replaceContent(next());
    },
    stop: () => (stopped ??= stop()),
    [Symbol.asyncDispose]: () => cloud.stop(),
  };

  const app = cloudApp({
    content: () => content,
    directory,
    identifyCaller: identityOf,
    clock,
    journal,
    unhandled: unserved,
    documents,
    rules,
    // If clients on other computers can reach the cloud, they must not reach this computer's services by downloads.
    downloads: isLoopback(host) ? 'all' : undefined,
    onError,
    maxVersion,
    control: options.control ? cloud : undefined,
  });
  const handleRequest = gateway({ journal, rules: httpRules, clock, app });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (req, res) =>
    checkHost(req, res, () => handleRequest(req, res)),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  }).catch(async (error) => {
    await content.engine.close();
    throw error;
  });
  const shownHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  const url = `http://${shownHost}:${(server.address() as AddressInfo).port}`;
  authUrl = `${url}/identity/v3`;
  const addresses = {
    url,
    authUrl,
    env: environment(authUrl, PASSWORD),
    cloudsYaml: cloudsYaml(authUrl, PASSWORD),
  };
  return Object.defineProperties(addresses, Object.getOwnPropertyDescriptors(cloud)) as TestCloud;
}
