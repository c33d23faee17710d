import type { Engine } from '@apistrata/compute-engine';
import type { Rule, RuleHandle } from '@apistrata/compute-engine/drivers';
import type { TablesDump } from '@apistrata/compute-engine/testing';
import type { CloudClock } from './clock/cloud-clock.js';
import type { environment, Login } from './environment.js';
import type { HttpRule } from './gateway/http-rule.js';
import type { HttpRuleHandle } from './gateway/http-rules.js';
import type { JournalEntry, JournalQuery } from './gateway/journal.js';
import type { UnhandledRequest } from './gateway/unhandled-requests.js';
import type { DocumentsState } from './service/documents.js';

/** The rules of a cloud, which script the behavior of machines and HTTP requests. */
export interface CloudRules {
  /** Adds a rule for machines: steps that are delayed, fail or hang. */
  machine(rule: Rule): RuleHandle;
  /** Adds a rule for HTTP requests: changed, delayed or missing responses. */
  http(rule: HttpRule): HttpRuleHandle;
  /** Removes all rules, and resumes steps that hang. */
  clear(): void;
}

/** A snapshot of a cloud, which can be restored any number of times, into any cloud. */
export interface CloudState {
  readonly tables: TablesDump;
  readonly documents: DocumentsState;
  readonly now: number;
}

/** A cloud in this process. */
export interface TestCloud {
  /** The URL of the cloud, without a trailing slash. */
  readonly url: string;
  /** The URL of the identity service (auth URL). */
  readonly authUrl: string;
  /** Environment variables for an administrator in the project `demo`. */
  readonly env: ReturnType<typeof environment>;
  /** Returns environment variables for another account; creates missing users and projects. */
  envFor(login: Login): ReturnType<typeof environment>;
  /** A clouds.yaml with two clouds: `test-cloud` (a member) and `test-cloud-admin`. */
  readonly cloudsYaml: string;
  /**
   * Returns a token without an authentication request. Creates missing users, projects and roles.
   *
   * @param roles default: member and reader; admin for the user `admin`
   */
  token(user?: string, project?: string, roles?: readonly string[]): string;
  readonly clock: CloudClock;
  readonly rules: CloudRules;
  /** The current compute engine, which `reset` and `restore` replace. */
  readonly engine: Engine;
  /** Returns the requests so far, oldest first. */
  requests(query?: JournalQuery): readonly JournalEntry[];
  /** Calls `listener` for every new request. Returns a function that unsubscribes. */
  onRequest(listener: (entry: JournalEntry) => void): () => void;
  /** Returns requests that no service handles. */
  unserved(): readonly UnhandledRequest[];
  /** Simulates a restart of a host's compute service, which cleans up evacuated servers. */
  restartHost(name: string): Promise<void>;
  /** Resolves when no background work is left. */
  idle(): Promise<void>;
  /** Restores the initial state: servers, networks, users, rules, journal. Tokens become invalid. */
  reset(): Promise<void>;
  save(): Promise<CloudState>;
  /** Restores a snapshot. Removes rules and cancels work in progress. */
  restore(state: CloudState): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
