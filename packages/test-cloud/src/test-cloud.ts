import type { Engine } from '@apistrata/compute-engine';
import type { Rule, RuleHandle } from '@apistrata/compute-engine/drivers';
import type { TablesDump } from '@apistrata/compute-engine/testing';
import type { CloudClock } from './clock/cloud-clock.js';
import type { environment, Login } from './environment.js';
import type { HttpRule } from './front/http-rule.js';
import type { HttpRuleHandle } from './front/http-rules.js';
import type { JournalEntry, JournalQuery } from './front/journal.js';
import type { UnservedCall } from './front/unserved.js';
import type { DocumentsState } from './service/documents.js';

/** Scripted behaviour. */
export interface CloudRules {
  /** Of the machines: steps that take long, fail or hang. */
  machine(rule: Rule): RuleHandle;
  /** Of the wire: requests that are answered otherwise, late, or not at all. */
  http(rule: HttpRule): HttpRuleHandle;
  /** Takes all rules away and lets go what hangs. */
  clear(): void;
}

/** Everything a cloud knew at one moment. It can be put back as often as wanted, into any cloud. */
export interface CloudState {
  readonly tables: TablesDump;
  readonly documents: DocumentsState;
  readonly now: number;
}

/** A cloud that runs in this process. */
export interface TestCloud {
  /** Where it is, without a slash at the end. */
  readonly url: string;
  /** What clients call the auth URL. */
  readonly authUrl: string;
  /** The environment of an administrator in the project `demo`, as clients read it. */
  readonly env: ReturnType<typeof environment>;
  /** The environment of somebody else; users and projects that are not there are made. */
  envFor(login: Login): ReturnType<typeof environment>;
  /** The same for two clouds, `test-cloud` (a member) and `test-cloud-admin`, as a clouds.yaml. */
  readonly cloudsYaml: string;
  /**
   * A token, without logging in. Users, projects and roles that are not there are made.
   * @param roles default: member and reader; admin for the user `admin`
   */
  token(user?: string, project?: string, roles?: readonly string[]): string;
  readonly clock: CloudClock;
  readonly rules: CloudRules;
  /** The compute engine of now: another one after `reset` and `restore`. */
  readonly engine: Engine;
  /** What was asked so far, oldest first. */
  requests(query?: JournalQuery): readonly JournalEntry[];
  /** Calls `listener` for every request from now on; the result ends that. */
  onRequest(listener: (entry: JournalEntry) => void): () => void;
  /** What clients asked for that no service has an answer to. */
  unserved(): readonly UnservedCall[];
  /** The compute service of a host starts anew: what was evacuated from it is cleaned up there. */
  restartHost(name: string): Promise<void>;
  /** Until no background work is left. */
  idle(): Promise<void>;
  /** Back to the start: servers, networks, users, rules, journal. Tokens end. */
  reset(): Promise<void>;
  save(): Promise<CloudState>;
  /** Rules are taken away; whatever is under way in the cloud as it is now ends. */
  restore(state: CloudState): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
