import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dumpTables, loadTables } from '@apistrata/compute-engine/testing';
import { allowedHosts, isLoopback, newestSupported } from '@apistrata/compute-router';
import { CloudClock } from './clock/cloud-clock.js';
import { environment, formatCloudsYaml } from './environment.js';
import { cloudApp } from './gateway/cloud-app.js';
import { createListener } from './gateway/gateway.js';
import { HttpRules } from './gateway/http-rules.js';
import { Journal } from './gateway/journal.js';
import { RuleBook } from './gateway/rule-book.js';
import { UnhandledRequests } from './gateway/unhandled-requests.js';
import { DEMO_PASSWORD, DemoDirectory } from './identity/demo-directory.js';
import { identifyCaller } from './identity/identify-caller.js';
import { type CloudOptions, checkCloudOptions, STEP_DURATIONS_MS } from './options.js';
import { populate } from './presets/populate.js';
import { type CloudPreset, presets } from './presets/presets.js';
import { Documents } from './service/documents.js';
import { type CloudContent, type ContentOptions, createContent } from './state/cloud-content.js';
import type { TestCloud } from './test-cloud.js';

/**
 * The time for which idle connections stay open, as in the reference server, so that polling clients can reuse them.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

function resolvePreset(preset: CloudOptions['preset'] = 'small'): CloudPreset {
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
  const initialPreset = resolvePreset(options.preset);
  const clock = new CloudClock();
  if (options.clock === 'frozen') clock.freeze();
  const documents = new Documents();
  const directory = new DemoDirectory(documents, clock);
  const identifyRequest = identifyCaller(directory);
  const journal = new Journal();
  const unhandledRequests = new UnhandledRequests();
  const httpRules = new HttpRules(clock);
  const contentOptions: ContentOptions = {
    clock,
    identifyCaller: identifyRequest,
    projectExists: (id) => directory.state.projects.has(id),
    settings: options.settings,
    latencyMs: options.latencyMs ?? STEP_DURATIONS_MS[options.pace ?? 'instant'],
    transientMs: options.transientMs ?? 0,
    maxVersion,
    onError,
  };

  async function createInitialContent(): Promise<CloudContent> {
    const created = await createContent(contentOptions, initialPreset.preset);
    if (initialPreset.population) await populate(created.engine, directory, initialPreset.population);
    return created;
  }
  let content = await createInitialContent();
  const rules = new RuleBook(httpRules, () => content.driver);

  /** Replaces the cloud's content during `reset` or `restore`. */
  async function replaceContent(createRestoredContent: Promise<CloudContent>): Promise<void> {
    const previousContent = content;
    content = await createRestoredContent;
    previousContent.driver.clearRules();
    httpRules.clear();
    await previousContent.engine.close();
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
      directory.issueLastingToken(user, project, roles),
    envFor: (login) => {
      const user = directory.user(login.user ?? 'admin');
      const scope = { kind: 'project', id: directory.project(login.project ?? 'demo').id } as const;
      if (directory.roleIdsOf(user.id, scope).length === 0)
        for (const role of ['member', 'reader']) directory.grant(user, scope, role);
      return environment(authUrl, DEMO_PASSWORD, login);
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
    onRequest: (listener) => journal.subscribe(listener),
    unhandled: () => unhandledRequests.list(),
    restartHost: (name) => content.engine.services.begin([name]),
    idle: () => content.engine.idle(),
    async reset() {
      documents.clear();
      directory.seed();
      await replaceContent(createInitialContent());
      journal.clear();
      unhandledRequests.clear();
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
      const createRestoredContent = async () => {
        const created = await createContent(contentOptions, {});
        await loadTables(created.engine, state.tables);
        return created;
      };
      await replaceContent(createRestoredContent());
    },
    stop: () => (stopped ??= stop()),
    [Symbol.asyncDispose]: () => cloud.stop(),
  };

  const app = cloudApp({
    content: () => content,
    directory,
    identifyCaller: identifyRequest,
    clock,
    journal,
    unhandled: unhandledRequests,
    documents,
    rules,
    // If clients on other computers can reach the cloud, they must not reach this computer's services through
    // downloads.
    downloads: isLoopback(host) ? 'all' : undefined,
    onError,
    maxVersion,
    control: options.control ? cloud : undefined,
  });
  const handleRequest = createListener({ journal, rules: httpRules, clock, app });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, (req, res) =>
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
    env: environment(authUrl, DEMO_PASSWORD),
    cloudsYaml: formatCloudsYaml(authUrl, DEMO_PASSWORD),
  };
  return Object.defineProperties(addresses, Object.getOwnPropertyDescriptors(cloud)) as TestCloud;
}
