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

/** A cloud's rules, which script the behavior of machines and the responses to HTTP requests. */
export interface CloudRules {
  /** Adds a rule that makes machine steps slow, fail or hang. */
  machine(rule: Rule): RuleHandle;
  /** Adds a rule that changes, delays or drops HTTP responses. */
  http(rule: HttpRule): HttpRuleHandle;
  /** Removes all rules, and resumes the machine steps that hang. */
  clear(): void;
}

/** A snapshot of a cloud. Any cloud can restore it, any number of times. */
export interface CloudState {
  readonly tables: TablesDump;
  readonly documents: DocumentsState;
  readonly now: number;
}

/** A test cloud that runs in this process. */
export interface TestCloud {
  /** The URL of the cloud, without a trailing slash. */
  readonly url: string;
  /** The URL of the identity service; clients call it the auth URL. */
  readonly authUrl: string;
  /** The environment variables for an administrator in the project `demo`. */
  readonly env: ReturnType<typeof environment>;
  /** Returns the environment variables for another user and project, which are created if they are missing. */
  envFor(login: Login): ReturnType<typeof environment>;
  /** A clouds.yaml with two clouds: `test-cloud` for a member, and `test-cloud-admin` for an administrator. */
  readonly cloudsYaml: string;
  /**
   * Returns a token without an authentication request. A missing user, project or role is created.
   *
   * @param roles default: member and reader; admin for the user `admin`
   */
  token(user?: string, project?: string, roles?: readonly string[]): string;
  readonly clock: CloudClock;
  readonly rules: CloudRules;
  /** The current compute engine, which `reset` and `restore` replace. */
  readonly engine: Engine;
  /** Returns the requests in the journal, oldest first. */
  requests(query?: JournalQuery): readonly JournalEntry[];
  /** Calls `listener` for each new request. Returns a function that removes the listener. */
  onRequest(listener: (entry: JournalEntry) => void): () => void;
  /** Returns the requests that no service has handled, grouped by kind. */
  unhandled(): readonly UnhandledRequest[];
  /** Simulates a restart of a host's compute service, which cleans up the servers that were evacuated from the host. */
  restartHost(name: string): Promise<void>;
  /** Resolves when no background jobs are left. */
  idle(): Promise<void>;
  /** Restores the initial state of the services, removes rules and clears the journal. Tokens become invalid. */
  reset(): Promise<void>;
  save(): Promise<CloudState>;
  /** Restores a snapshot. Removes all rules and cancels background jobs. */
  restore(state: CloudState): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
