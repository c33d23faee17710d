import type { CloudClock } from '../clock/cloud-clock.js';
import type { ControllableCloud } from '../control/control-router.js';
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
  /** The hosts from which clients can make the image service download image data; undefined: no hosts. */
  readonly downloads: DownloadSources | undefined;
  readonly onError: (error: unknown) => void;
  /** The highest compute microversion that the documentation shows; default: the API's highest microversion. */
  readonly maxVersion: string | undefined;
  /** The cloud that `/_control` controls; undefined if the control API is disabled. */
  readonly control: ControllableCloud | undefined;
}
