import type { CloudClock } from '../clock/cloud-clock.js';
import type { Controlled } from '../control/control-router.js';
import type { DemoDirectory } from '../identity/demo-directory.js';
import type { DownloadSources } from '../image/download-file.js';
import type { IdentifyCaller } from '../service/cloud-context.js';
import type { Documents } from '../service/documents.js';
import type { CloudContent } from '../state/cloud-content.js';
import type { Journal } from './journal.js';
import type { RuleBook } from './rule-book.js';
import type { UnhandledRequests } from './unhandled-requests.js';

export interface CloudAppOptions {
  readonly content: () => CloudContent;
  readonly directory: DemoDirectory;
  readonly identifyCaller: IdentifyCaller;
  readonly clock: CloudClock;
  readonly journal: Journal;
  readonly unhandled: UnhandledRequests;
  readonly documents: Documents;
  readonly rules: RuleBook;
  /** The sources from which the image service downloads content of URLs that callers request; undefined: none. */
  readonly downloads: DownloadSources | undefined;
  readonly onError: (error: unknown) => void;
  /** Highest compute microversion in the documentation; default: the API's highest microversion. */
  readonly maxVersion: string | undefined;
  /** The cloud, if `/_control` is enabled. */
  readonly control: Controlled | undefined;
}
